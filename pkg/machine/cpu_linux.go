package machine

// CPU returns the processor's name, as the kernel gives it; empty if the kernel has no name for it.
func CPU() string { return field("/proc/cpuinfo", "model name") }
