package machine

import "syscall"

// CPU returns the processor's name, as the kernel gives it.
func CPU() string {
	name, _ := syscall.Sysctl("machdep.cpu.brand_string") // if it fails, the name is empty
	return name
}
