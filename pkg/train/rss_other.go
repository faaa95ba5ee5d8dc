//go:build !unix

package train

// peakRSS returns 0, which means that the memory is not known: on this system it is not measured.
func peakRSS() int64 { return 0 }
