//go:build !unix

package train

// peakRSS returns 0, which means unknown: it is not measured on this system.
func peakRSS() int64 { return 0 }
