package plain_test

import (
	"fmt"

	"github.com/revgnn/revgnn/pkg/plain"
)

// The example shows a name from a file that somebody else wrote. The name has a command that would clear the screen of
// the terminal. Text returns harmless text in place of the command.
func ExampleText() {
	name := "GCN\x1b[2J\nReP"
	fmt.Println(plain.Text(name))
	fmt.Println(plain.Keeping("one line\nanother", "\n"))
	// Output:
	// GCN\u001b[2J\u000aReP
	// one line
	// another
}
