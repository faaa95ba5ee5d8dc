package machine

import "path/filepath"

// Killed counts the processes that the kernel has ended because a control group of this process had no memory left:
// those of the container, say. The count never falls; 0 where it is not known.
func Killed() (n int64) {
	for _, g := range groups() {
		for _, file := range []string{"memory.events", "memory.oom_control"} { // of version 2 and version 1
			n = max(n, fields(filepath.Join(g.dir, file))["oom_kill"])
		}
	}
	return n
}
