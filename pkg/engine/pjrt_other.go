//go:build !(linux && cgo)

package engine

// interpose does nothing here, and returns false. On Linux with cgo, it makes go-xla use the XLA plugin with a compile
// function of this package (pjrt_linux.go). Elsewhere programs are not kept, and their memory is not known.
func interpose(string, string, int) bool { return false }

// measure calls the function compile, which compiles a program. It returns nil for the program's memory, which is not
// known on this system.
func measure(compile func() error) (*Memory, error) { return nil, compile() }
