package machine

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
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
	for _, dir := range groups("memory") {
		for _, f := range memoryFiles {
			limit := number(filepath.Join(dir, f.limit))
			if limit <= 0 || limit >= info["MemTotal:"]*1024 {
				continue
			}
			used := number(filepath.Join(dir, f.used)) - fields(filepath.Join(dir, "memory.stat"))[f.cached]
			total, free = min(total, limit), min(free, max(1, limit-used))
		}
	}
	var addresses syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &addresses) == nil && addresses.Cur < math.MaxInt64 {
		limit := int64(addresses.Cur)
		total, free = min(total, limit), min(free, max(1, limit-fields(status)["VmSize:"]*1024))
	}
	return total, free
}

// memoryFiles are the files of a control group, of version 2 and of version 1, with the limit and the use of memory,
// and the line of memory.stat with that part of the use which only holds copies of files, and which can be freed at
// any time.
var memoryFiles = []struct{ limit, used, cached string }{
	{"memory.max", "memory.current", "inactive_file"},
	{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"},
}

// groups lists the folders of the control groups that may limit what a controller ("memory" or "cpu") gives to this
// process: its own, and all that contain it. Folders may not exist: inside a container, often only that of the
// outermost group does, with the files of the container's own.
func groups(controller string) (dirs []string) {
	b, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(b)) { // The line is, for example, "0::/user.slice" or "4:memory:/job".
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		roots := []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} // version 2
		switch {
		case len(parts) < 3:
			continue
		case slices.Contains(strings.Split(parts[1], ","), controller):
			roots = []string{"/sys/fs/cgroup/" + controller}
		case parts[1] != "":
			continue
		}
		for _, root := range roots {
			for path := parts[2]; ; path = filepath.Dir(path) {
				dirs = append(dirs, filepath.Join(root, path))
				if path == filepath.Dir(path) {
					break
				}
			}
		}
	}
	return dirs
}

// Cores is the number of processor cores that this process may use: of the machine or, rounded up, of the quota of a
// control group, as that of a container.
func Cores() int {
	cores := float64(runtime.NumCPU())
	for _, dir := range groups("cpu") {
		quota, period := number(filepath.Join(dir, "cpu.cfs_quota_us")), number(filepath.Join(dir, "cpu.cfs_period_us"))
		if b, err := os.ReadFile(filepath.Join(dir, "cpu.max")); err == nil {
			fmt.Sscan(string(b), &quota, &period) // "max 100000" has no quota, which stays 0
		}
		if quota > 0 && period > 0 {
			cores = min(cores, float64(quota)/float64(period))
		}
	}
	return int(math.Ceil(cores))
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
	for _, dir := range groups("memory") {
		// Of version 2 and version 1 of control groups.
		for _, file := range []string{"memory.events", "memory.oom_control"} {
			n = max(n, fields(filepath.Join(dir, file))["oom_kill"])
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
