package plain_test

import (
	"fmt"

	"github.com/revgnn/revgnn/pkg/plain"
)

// A name in a file by somebody else would clear the screen. It is shown as harmless text instead.
func ExampleText() {
	name := "GCN\x1b[2J\nReP"
	fmt.Println(plain.Text(name))
	fmt.Println(plain.Keeping("one line\nanother", "\n"))
	// Output:
	// GCN\u001b[2J\u000aReP
	// one line
	// another
}
