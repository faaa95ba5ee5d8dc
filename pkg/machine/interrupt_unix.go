//go:build unix

package machine

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// Signals that ask a program to end now, and those that a scheduler sends some time before.
var (
	endings  = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
	warnings = []os.Signal{syscall.SIGUSR1}
)

// ignorePipes makes writing to a closed pipe return an error. By default, the signal SIGPIPE would end the process.
func ignorePipes() { signal.Ignore(syscall.SIGPIPE) }

func nameOf(s syscall.Signal) string { return unix.SignalName(s) }
