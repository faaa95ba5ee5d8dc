package machine

import "path/filepath"

// Killed is the number of processes that the operating system has killed because a control group of this process had no
// memory left. (Linux limits memory by control groups, for example the memory of a container; see [Memory].) This
// number never falls. If it is not known, Killed returns 0.
func Killed() (n int64) {
	for _, g := range groups() {
		// The two files are those of versions 2 and 1 of control groups.
		for _, file := range []string{"memory.events", "memory.oom_control"} {
			n = max(n, fields(filepath.Join(g.dir, file))["oom_kill"])
		}
	}
	return n
}
