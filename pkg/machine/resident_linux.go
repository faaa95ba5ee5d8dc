package machine

// Resident is the memory that this process has now, in bytes, without files that it maps and shares.
func Resident() int64 {
	info := fields("/proc/self/status")
	return (info["RssAnon:"] + info["RssShmem:"]) * 1024
}
