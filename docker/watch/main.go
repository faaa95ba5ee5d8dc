//go:build linux

// Command watch explains in a notebook that Linux ended a cell for lack of memory. Without it, the notebook would show
// nothing but "signal: killed".
//
//	watch &      # beside the Jupyter server, as the same user; it ends with its container
//
// The Go kernel gonb runs each cell as a program of its own, and shows its stderr until no process has it open. watch
// opens it, too, and writes a sentence there when the program has ended and Linux has meanwhile counted one more
// process killed for lack of memory. It also sets priorities by which Linux kills cells before the notebook server.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/revgnn/revgnn/pkg/machine"
)

// every is the time between two searches for new programs. One that fills the memory in less time is missed, which is
// rare: a program gets only some GiB per second.
const every = 50 * time.Millisecond

func main() {
	total, _ := machine.Memory()
	seen := map[int]bool{}
	for range time.Tick(every) {
		now := map[int]bool{}
		for _, pid := range cells() {
			if now[pid] = true; !seen[pid] {
				watch(pid, total)
			}
		}
		seen = now
	}
}

// cells are the processes that run cells: children of the Go kernel gonb, without others such as the go command.
func cells() (pids []int) {
	parent, kernel := map[int]int{}, map[int]bool{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // ended meanwhile
		}
		// "PID (NAME) STATE PARENT ...", where NAME may hold anything
		open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if after := strings.Fields(string(text[end+1:])); open > 0 && len(after) > 1 && after[0] != "Z" {
			parent[pid], _ = strconv.Atoi(after[1])
			kernel[pid] = string(text[open+1:end]) == "gonb"
		}
	}
	for pid, of := range parent {
		// gonb builds the program of each cell in a folder with a name like gonb_XXXXXXXX. Compilers are in other
		// folders.
		exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		if err == nil && kernel[of] && !kernel[pid] && strings.Contains(exe, "/gonb_") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// watch waits in the background until a process ends, and writes to its stderr if one was killed for lack of memory
// meanwhile; total is the container's memory in bytes.
func watch(pid int, total int64) {
	handle, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	stderr, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/2", pid), os.O_WRONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		unix.Close(handle)
		return
	}
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte("1000"), 0)
	before := machine.Killed()
	go func() {
		defer unix.Close(handle)
		defer stderr.Close()
		for {
			_, err := unix.Poll([]unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}, -1)
			if err == nil {
				break
			} else if err != unix.EINTR {
				return
			}
		}
		if machine.Killed() > before {
			fmt.Fprintf(stderr, "This cell was ended: it needed more memory than the %s that this server may use. The "+
				"notebook, its kernel and what earlier cells saved are still there; use less, end other notebooks, or ask "+
				"for more memory.\n", machine.Bytes(total))
		}
	}()
}
