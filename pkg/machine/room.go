package machine

import "fmt"

// small is the number of bytes below which Room does not check.
const small = 64 << 20

// Room returns an error if less memory is free than bytes, plus a quarter. A Go program cannot recover from running out
// of memory. So call Room before allocating memory whose size was read from a file.
func Room(bytes int64) error {
	if bytes < small {
		return nil
	}
	// A quarter is added, since the heap grows in steps of 64 MiB and has overhead, and threads have stacks.
	if _, free := Memory(); free > 0 && bytes+bytes/4 > free {
		return fmt.Errorf("needs %s of memory, but %s are free: make room, or take a machine with more",
			Bytes(bytes), Bytes(free))
	}
	return nil
}
