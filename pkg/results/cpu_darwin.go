package results

import "syscall"

// cpuModel is the processor's name, from the kernel.
func cpuModel() string {
	name, _ := syscall.Sysctl("machdep.cpu.brand_string") // no name, no value
	return name
}
