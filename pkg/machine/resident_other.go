//go:build !linux

package machine

// Resident is 0 on all operating systems except Linux: the memory that this process uses is not known there.
func Resident() int64 { return 0 }

// ResidentSet and PeakResidentSet are 0 on all operating systems except Linux: the memory that this process uses is not
// known there.
func ResidentSet() int64     { return 0 }
func PeakResidentSet() int64 { return 0 }
