package results

// cpuModel returns the processor's name, as the kernel gives it; empty if the kernel has no name for it.
func cpuModel() string { return field("/proc/cpuinfo", "model name") }
