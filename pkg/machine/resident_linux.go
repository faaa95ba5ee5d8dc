package machine

const status = "/proc/self/status"

// Resident is the main memory that this process uses, in bytes. Memory that only shows files of the disk, such as
// program code, is not included.
func Resident() int64 {
	info := fields(status)
	return (info["RssAnon:"] + info["RssShmem:"]) * 1024
}

// ResidentSet is the main memory that this process uses at present, and PeakResidentSet is the most that it has used so
// far, in bytes. Unlike [Resident], both include memory that only shows files of the disk.
func ResidentSet() int64     { return fields(status)["VmRSS:"] * 1024 }
func PeakResidentSet() int64 { return fields(status)["VmHWM:"] * 1024 }
