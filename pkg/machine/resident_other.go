//go:build !linux

package machine

// Resident is not known here: 0.
func Resident() int64 { return 0 }

// ResidentSet and PeakResidentSet are not known here: 0.
func ResidentSet() int64     { return 0 }
func PeakResidentSet() int64 { return 0 }
