package machine

import "fmt"

// small is what is asked for without a look at the memory.
const small = 64 << 20

// Room returns an error if that many bytes are more than what is free. Go cannot recover from memory that is not
// there, so that what a file asks for is compared first.
func Room(bytes int64) error {
	if bytes < small {
		return nil
	}
	// A quarter more: the heap grows by whole pieces of 64 MiB, keeps books, and threads have stacks.
	if _, free := Memory(); free > 0 && bytes+bytes/4 > free {
		return fmt.Errorf("needs %s of memory, but %s are free: make room, or take a machine with more",
			Bytes(bytes), Bytes(free))
	}
	return nil
}
