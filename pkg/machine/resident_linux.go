package machine

const status = "/proc/self/status"

// Resident is the memory of this process in bytes, without files that it maps and shares.
func Resident() int64 {
	info := fields(status)
	return (info["RssAnon:"] + info["RssShmem:"]) * 1024
}

// ResidentSet and PeakResidentSet are the present and the largest memory of this process in bytes, including mapped
// and shared files.
func ResidentSet() int64     { return fields(status)["VmRSS:"] * 1024 }
func PeakResidentSet() int64 { return fields(status)["VmHWM:"] * 1024 }
