package machine

import "path/filepath"

// Killed is the number of processes that the operating system has killed because a control group of this process had no
// memory left. (Linux limits memory by control groups, for example the memory of a container; see [Memory].) This
// number never falls. If it is not known, Killed returns 0.
func Killed() (n int64) {
	for _, g := range groups() {
		// Linux has two versions of control groups. Version 2 has the file memory.events, and version 1 has
		// memory.oom_control.
		for _, file := range []string{"memory.events", "memory.oom_control"} {
			n = max(n, fields(filepath.Join(g.dir, file))["oom_kill"])
		}
	}
	return n
}
