package machine

const status = "/proc/self/status"

// Resident is the main memory of this process in bytes, without what only holds contents of files, such as its code.
func Resident() int64 {
	info := fields(status)
	return (info["RssAnon:"] + info["RssShmem:"]) * 1024
}

// ResidentSet is the main memory of this process in bytes, and PeakResidentSet the most so far, with what only holds
// contents of files.
func ResidentSet() int64     { return fields(status)["VmRSS:"] * 1024 }
func PeakResidentSet() int64 { return fields(status)["VmHWM:"] * 1024 }
