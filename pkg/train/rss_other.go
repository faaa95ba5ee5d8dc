//go:build !unix

package train

// peakRSS returns 0, which means that the peak is not known. This version of the function is for systems other than
// Unix, where the memory of the process is not measured.
func peakRSS() int64 { return 0 }
