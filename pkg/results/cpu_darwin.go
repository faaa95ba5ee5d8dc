package results

import "syscall"

// cpuModel is what the kernel says.
func cpuModel() string {
	name, _ := syscall.Sysctl("machdep.cpu.brand_string") // no name, no value
	return name
}
