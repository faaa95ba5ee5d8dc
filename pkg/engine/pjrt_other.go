//go:build !(linux && cgo)

package engine

// keepPrograms is for Linux: elsewhere programs are compiled each time.
func keepPrograms(string, string) bool { return false }
