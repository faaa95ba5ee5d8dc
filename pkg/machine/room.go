package machine

import "fmt"

// small is a number of bytes. For less memory than this, Room always returns nil.
const small = 64 << 20

// Room returns an error if less memory is free than the given number of bytes plus a quarter of it. Call Room before
// allocating memory whose size was read from a file: the size may be far too large, and a Go program cannot recover
// from running out of memory.
func Room(bytes int64) error {
	if bytes < small {
		return nil
	}
	// The quarter is for memory that Go takes in addition. The heap of a Go program grows in steps of 64 MiB and has
	// overhead, and threads have stacks.
	if _, free := Memory(); free > 0 && bytes/4 > free-bytes { // a sum could overflow
		return fmt.Errorf("needs %s of memory, but %s are free: make room, or take a machine with more",
			Bytes(bytes), Bytes(free))
	}
	return nil
}
