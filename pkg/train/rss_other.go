//go:build !unix

package train

// peakRSS returns 0, which means "not known": on this system it cannot measure the memory of the process.
func peakRSS() int64 { return 0 }
