package machine

import (
	"bufio"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Memory returns the total and the available memory in bytes. This is the memory of the machine, unless a limit lets
// this process use less. There may be a limit on the address space (ulimit -v), or on the memory of a control group
// (cgroup). Linux limits the memory of a container or of a scheduler's job by a control group.
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

// group names the folder of a control group, and the files in this folder that describe the group's memory. dir is the
// folder. limit is the name of the file with the group's memory limit, and used is the name of the file with the amount
// of memory that the group uses. A part of the used memory only holds copies of files, and the operating system can
// free this part at any time. Its size is in a line of the file memory.stat, and cached is the name of this line.
type group struct{ dir, limit, used, cached string }

// mounts are the folders in which Linux shows control groups, and the names of files in the folder of each group. Linux
// has two versions of control groups. Groups of version 2 are in one of the first two folders, and groups of version 1
// are in the third folder.
var mounts = []group{
	{"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"},
	{"/sys/fs/cgroup/unified", "memory.max", "memory.current", "inactive_file"},
	{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"},
}

// groups lists the control groups that may limit this process: the group that the file /proc/self/cgroup names, and all
// groups that contain this group. The list may have groups whose folders do not exist, and [Memory] skips these groups.
// Inside a container, often only the folder of the outermost group exists. It then has the files of the container's own
// group.
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

// fields reads a file with a name and a number on each line. The result is empty if the file does not exist.
func fields(path string) map[string]int64 {
	values := map[string]int64{}
	f, err := os.Open(path)
	if err != nil {
		return values
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if words := strings.Fields(lines.Text()); len(words) >= 2 {
			values[words[0]], _ = strconv.ParseInt(words[1], 10, 64)
		}
	}
	return values
}

// number reads a file with a single number. The result is 0 if the file does not exist or holds anything else, such as
// "max".
func number(path string) int64 {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	return n
}
