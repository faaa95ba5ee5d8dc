package plain_test

import (
	"fmt"

	"github.com/revgnn/revgnn/pkg/plain"
)

// A name in somebody else's file has a command that would clear the screen of the terminal. The example shows this name
// as harmless text.
func ExampleText() {
	name := "GCN\x1b[2J\nReP"
	fmt.Println(plain.Text(name))
	fmt.Println(plain.Keeping("one line\nanother", "\n"))
	// Output:
	// GCN\u001b[2J\u000aReP
	// one line
	// another
}
