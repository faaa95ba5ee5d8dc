package machine_test

import (
	"fmt"

	"github.com/revgnn/revgnn/pkg/machine"
)

// The example asks whether enough memory is free for a large array. A program can ask this before it allocates the
// array.
func Example() {
	nodes, width := int64(1)<<33, int64(512)
	need := 4 * nodes * width
	fmt.Println("needed:", machine.Bytes(need))
	if err := machine.Room(need); err != nil {
		fmt.Println("there is less memory than that")
	}
	// Output:
	// needed: 16384.0 GiB
	// there is less memory than that
}
