//go:build !linux

package machine

// Resident is 0, since on this system the memory that this process uses is not known.
func Resident() int64 { return 0 }

// ResidentSet and PeakResidentSet are 0, since on this system the memory that this process uses is not known.
func ResidentSet() int64     { return 0 }
func PeakResidentSet() int64 { return 0 }
