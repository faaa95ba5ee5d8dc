package machine

const status = "/proc/self/status"

// Resident is the memory that this process uses, in bytes, without the files that are mapped into it.
func Resident() int64 {
	info := fields(status)
	return (info["RssAnon:"] + info["RssShmem:"]) * 1024
}

// ResidentSet is the memory that this process uses at present, and PeakResidentSet the most that it has used, in bytes.
// Both include the files that are mapped into it.
func ResidentSet() int64     { return fields(status)["VmRSS:"] * 1024 }
func PeakResidentSet() int64 { return fields(status)["VmHWM:"] * 1024 }
