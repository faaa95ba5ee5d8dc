package doctor

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// memory returns the total and the available memory in bytes: the kernel's, or the container's where that is less.
func memory() (total, free int64) {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0, 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 {
			continue
		}
		switch kib, _ := strconv.ParseInt(fields[1], 10, 64); fields[0] {
		case "MemTotal:":
			total = kib * 1024
		case "MemAvailable:":
			free = kib * 1024
		}
	}
	const group = "/sys/fs/cgroup/"
	if limit := number(group + "memory.max"); limit > 0 && limit < total {
		total = limit
		free = min(free, max(0, limit-number(group+"memory.current")))
	}
	return total, free
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
