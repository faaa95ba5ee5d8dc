package machine

import "path/filepath"

// Killed is the number of processes that the operating system has killed because a control group (see [Memory]) of this
// process, such as its container, had no memory left. The number never falls. It is 0 if it is not known.
func Killed() (n int64) {
	for _, g := range groups() {
		for _, file := range []string{"memory.events", "memory.oom_control"} { // of version 2 and of version 1
			n = max(n, fields(filepath.Join(g.dir, file))["oom_kill"])
		}
	}
	return n
}
