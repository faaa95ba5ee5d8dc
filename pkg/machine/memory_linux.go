package machine

import (
	"bufio"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Memory returns the total and the available memory in bytes: the kernel's, or the container's where that is less, or
// what is left of the limit on this process's addresses (ulimit -v).
func Memory() (total, free int64) {
	info := fields("/proc/meminfo")
	total, free = info["MemTotal:"]*1024, info["MemAvailable:"]*1024
	// Control groups, version 2 and version 1. What is counted as used includes files in the cache, which make way.
	for _, group := range []struct{ dir, limit, used, cached string }{
		{"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"},
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"},
	} {
		limit := number(filepath.Join(group.dir, group.limit))
		if limit <= 0 || total > 0 && limit >= total {
			continue
		}
		used := number(filepath.Join(group.dir, group.used)) -
			fields(filepath.Join(group.dir, "memory.stat"))[group.cached]
		total, free = limit, min(free, max(0, limit-used))
	}
	var addresses syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &addresses) == nil && addresses.Cur < math.MaxInt64 {
		limit := int64(addresses.Cur)
		total, free = min(total, limit), min(free, max(1, limit-fields(status)["VmSize:"]*1024))
	}
	return total, free
}

// fields reads a file with a name and a number on each line; it is empty where there is no such file.
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

// number reads a file that holds one number; 0 where it holds none, such as "max".
func number(path string) int64 {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	return n
}
