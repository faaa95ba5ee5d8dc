//go:build unix

package host

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// endings ask a program to end, and warnings say that it will soon be made to.
var (
	endings  = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
	warnings = []os.Signal{syscall.SIGUSR1}
)

// ignorePipes has writing to a pipe that nobody reads be an error, and not the end.
func ignorePipes() { signal.Ignore(syscall.SIGPIPE) }

func nameOf(s syscall.Signal) string { return unix.SignalName(s) }
