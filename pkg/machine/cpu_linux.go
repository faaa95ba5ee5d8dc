package machine

import "cmp"

const cpuinfo = "/proc/cpuinfo"

// CPU returns the processor's name, as the kernel gives it; empty if the kernel has no name for it.
func CPU() string { return field(cpuinfo, "model name") }

// Processor returns the processor's family, model and instruction sets for vectors. On ARM, the first two are the
// architecture and the part number.
func Processor() (family, model, features string) {
	return cmp.Or(field(cpuinfo, "cpu family"), field(cpuinfo, "CPU architecture")),
		cmp.Or(field(cpuinfo, "model"), field(cpuinfo, "CPU part")),
		vectors(cmp.Or(field(cpuinfo, "flags"), field(cpuinfo, "Features")))
}
