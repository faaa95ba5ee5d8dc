package machine

import "path/filepath"

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
