package machine

const status = "/proc/self/status"

// Resident is the main memory that this process uses, in bytes. Memory that only holds contents of files on the disk,
// such as the code of the program, is not included.
func Resident() int64 {
	info := fields(status)
	return (info["RssAnon:"] + info["RssShmem:"]) * 1024
}

// ResidentSet is the main memory that this process uses at present, in bytes. PeakResidentSet is the largest value that
// ResidentSet has had so far. Unlike [Resident], both include memory that only holds contents of files on the disk,
// such as the code of the program.
func ResidentSet() int64     { return fields(status)["VmRSS:"] * 1024 }
func PeakResidentSet() int64 { return fields(status)["VmHWM:"] * 1024 }
