package machine

import "fmt"

// For less memory than this, Room always returns nil.
const small = 64 << 20

// Room returns an error if less memory is free than the given number of bytes and a quarter of it. Call it before
// allocating what a file asks for: a Go program cannot recover from running out of memory.
func Room(bytes int64) error {
	if bytes < small {
		return nil
	}
	// The quarter is for Go's heap, which grows in steps of 64 MiB, and for threads' stacks.
	if _, free := Memory(); free > 0 && bytes/4 > free-bytes { // a sum could overflow
		return fmt.Errorf("needs %s of memory, but %s are free: make room, or take a machine with more",
			Bytes(bytes), Bytes(free))
	}
	return nil
}
