package results

// cpuModel is what the kernel says; empty on processors that it gives no name.
func cpuModel() string { return field("/proc/cpuinfo", "model name") }
