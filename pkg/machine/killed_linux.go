package machine

import "path/filepath"

// Killed is the number of processes that the operating system has killed because a control group of this process had no
// memory left. (Linux limits memory by control groups, for example the memory of a container; see [Memory].) The number
// never falls. It is 0 if it is not known.
func Killed() (n int64) {
	for _, g := range groups() {
		for _, file := range []string{"memory.events", "memory.oom_control"} { // in versions 2 and 1 of control groups
			n = max(n, fields(filepath.Join(g.dir, file))["oom_kill"])
		}
	}
	return n
}
