//go:build !(linux && cgo)

package engine

// interpose is false: elsewhere than on Linux with cgo, programs are not kept, and their memory is unknown.
func interpose(int, string, string, []byte, string) bool { return false }

const cpuPlugin, cudaPlugin = 0, 1

// processor is only asked where programs are kept.
func processor() string { return "" }

func measure(_ string, compile func() error) (*Memory, error) { return nil, compile() }
