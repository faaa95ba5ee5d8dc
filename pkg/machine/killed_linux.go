package machine

import "path/filepath"

// Killed counts the processes that the kernel has killed because a control group of this process, such as the
// container's, had no memory left. The count never falls; it is 0 where unknown.
func Killed() (n int64) {
	for _, g := range groups() {
		for _, file := range []string{"memory.events", "memory.oom_control"} { // of version 2 and version 1
			n = max(n, fields(filepath.Join(g.dir, file))["oom_kill"])
		}
	}
	return n
}
