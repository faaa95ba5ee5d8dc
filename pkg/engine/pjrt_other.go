//go:build !(linux && cgo)

package engine

// interpose does nothing here and returns false: interposing works only on Linux with cgo. In all other cases programs
// are not kept, and their memory is not known.
func interpose(string, string, int) bool { return false }

// measure calls the function compile, which compiles a program, and returns no memory, since on this system it is not
// known.
func measure(compile func() error) (*Memory, error) { return nil, compile() }
