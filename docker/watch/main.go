//go:build linux

// Command watch says in a notebook why a cell ended when it had used up the memory of its container. The kernel ends
// the cell's program then, and all that the notebook would show is "signal: killed".
//
//	watch &      # beside the Jupyter server, as the same user; it ends with its container
//
// For each program that a Go kernel (gonb) starts, it holds the program's stderr open, which gonb reads until nobody
// holds it. When the program has ended and the kernel has counted one more process killed for memory, watch writes a
// sentence there. It also marks these programs as the first that the kernel is to end, before the notebook server.
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

// every is how often new programs are looked for. The kernel gives out memory at some GiB per second, so that a program
// which fills a container within this time is missed.
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

// cells are the processes that run cells: children of a gonb that are not the Go command or its helpers.
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
		// gonb builds each cell in a folder of its own, gonb_XXXXXXXX, which its compilers do not lie in.
		exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		if err == nil && kernel[of] && !kernel[pid] && strings.Contains(exe, "/gonb_") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// watch waits in the background for a process to end. A process that is gone already needs no watching.
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
