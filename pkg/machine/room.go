package machine

import "fmt"

// small is the number of bytes up to which Room does not check.
const small = 64 << 20

// Room returns an error if so many bytes are more than what is free. Go cannot recover from running out of memory, so
// that sizes read from files are checked first.
func Room(bytes int64) error {
	if bytes < small {
		return nil
	}
	// A quarter more, since the heap grows in steps of 64 MiB and has overhead, and threads have stacks.
	if _, free := Memory(); free > 0 && bytes+bytes/4 > free {
		return fmt.Errorf("needs %s of memory, but %s are free: make room, or take a machine with more",
			Bytes(bytes), Bytes(free))
	}
	return nil
}
