package results

// cpuModel is the processor's name, from the kernel; empty for processors that it has no name for.
func cpuModel() string { return field("/proc/cpuinfo", "model name") }
