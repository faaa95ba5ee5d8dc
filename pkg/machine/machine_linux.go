package machine

import (
	"cmp"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Memory returns the total and the available memory in bytes: of the machine, or of a limit on the address space
// (ulimit -v) or on a control group.
func Memory() (total, free int64) {
	info := fields("/proc/meminfo")
	total, free = info["MemTotal:"]*1024, info["MemAvailable:"]*1024
	for _, g := range groups() {
		limit := number(filepath.Join(g.dir, g.limit))
		if limit <= 0 || limit >= info["MemTotal:"]*1024 {
			continue
		}
		used := number(filepath.Join(g.dir, g.used)) - fields(filepath.Join(g.dir, "memory.stat"))[g.cached]
		total, free = min(total, limit), min(free, max(1, limit-used))
	}
	var addresses syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &addresses) == nil && addresses.Cur < math.MaxInt64 {
		limit := int64(addresses.Cur)
		total, free = min(total, limit), min(free, max(1, limit-fields(status)["VmSize:"]*1024))
	}
	return total, free
}

// group has the folder of a control group, its files with the limit and the use of memory, and the line of memory.stat
// with that part of the use which only holds copies of files, and which can be freed at any time.
type group struct{ dir, limit, used, cached string }

// mounts are the folders in which Linux shows control groups: the first two for version 2, the third for version 1.
var mounts = []group{
	{"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"},
	{"/sys/fs/cgroup/unified", "memory.max", "memory.current", "inactive_file"},
	{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"},
}

// groups lists the control groups that may limit this process: its own, and all that contain it. Folders may not exist:
// inside a container, often only that of the outermost group does, with the files of the container's own.
func groups() (all []group) {
	b, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(b)) { // The line is, for example, "0::/user.slice" or "4:memory:/job".
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 || parts[1] != "" && !slices.Contains(strings.Split(parts[1], ","), "memory") {
			continue
		}
		for _, m := range mounts {
			if (parts[1] == "") != (m.limit == mounts[0].limit) {
				continue
			}
			for path := parts[2]; ; path = filepath.Dir(path) {
				g := m
				g.dir = filepath.Join(m.dir, path)
				all = append(all, g)
				if path == filepath.Dir(path) {
					break
				}
			}
		}
	}
	return all
}

func fields(path string) map[string]int64 {
	values := map[string]int64{}
	b, _ := os.ReadFile(path)
	for line := range strings.Lines(string(b)) {
		if words := strings.Fields(line); len(words) >= 2 {
			values[words[0]], _ = strconv.ParseInt(words[1], 10, 64)
		}
	}
	return values
}

func number(path string) int64 {
	b, _ := os.ReadFile(path)
	n, _ := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	return n
}

const status = "/proc/self/status"

// Resident is the main memory of this process in bytes, without what only holds contents of files, such as its code.
func Resident() int64 {
	info := fields(status)
	return (info["RssAnon:"] + info["RssShmem:"]) * 1024
}

// ResidentSet is the main memory of this process in bytes, and PeakResidentSet the most so far, with what only holds
// contents of files.
func ResidentSet() int64     { return fields(status)["VmRSS:"] * 1024 }
func PeakResidentSet() int64 { return fields(status)["VmHWM:"] * 1024 }

// Killed is the number of processes that the system has killed because a control group of this process had no memory
// left. It never falls, and is 0 if it is not known.
func Killed() (n int64) {
	for _, g := range groups() {
		// Of version 2 and version 1 of control groups.
		for _, file := range []string{"memory.events", "memory.oom_control"} {
			n = max(n, fields(filepath.Join(g.dir, file))["oom_kill"])
		}
	}
	return n
}

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
