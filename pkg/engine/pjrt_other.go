//go:build !(linux && cgo)

package engine

// interpose does nothing, and returns false. This file is for systems other than Linux, and for builds without cgo.
// There, programs are not kept, and the memory that they take is not known. On Linux with cgo, pjrt_linux.go has an
// interpose that makes go-xla call a compile function of this package.
func interpose(string, string, int) bool { return false }

// measure calls the function compile, which compiles a program. It returns nil in place of the memory that a run of the
// program takes, since this memory is not known on this system.
func measure(compile func() error) (*Memory, error) { return nil, compile() }
