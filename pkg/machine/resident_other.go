//go:build !linux

package machine

// Resident is 0, since the memory that this process uses is not known on this system.
func Resident() int64 { return 0 }

// ResidentSet and PeakResidentSet are 0, since they are not known on this system.
func ResidentSet() int64     { return 0 }
func PeakResidentSet() int64 { return 0 }
