package machine

import (
	"strconv"
	"syscall"
)

// CPU returns the processor's name, as the kernel gives it.
func CPU() string { return sysctl("machdep.cpu.brand_string") }

// Processor returns the processor's family, model and instruction sets for vectors. A Mac tells them for Intel's only.
func Processor() (family, model, features string) {
	return number("machdep.cpu.family"), number("machdep.cpu.model"),
		vectors(sysctl("machdep.cpu.features") + " " + sysctl("machdep.cpu.leaf7_features"))
}

// sysctl returns a value that the kernel has as text; empty if it has none.
func sysctl(name string) string {
	value, _ := syscall.Sysctl(name)
	return value
}

// number returns a value that the kernel has as a number; empty if it has none.
func number(name string) string {
	value, err := syscall.SysctlUint32(name)
	if err != nil {
		return ""
	}
	return strconv.FormatUint(uint64(value), 10)
}
