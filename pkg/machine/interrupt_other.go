//go:build !unix

package machine

import (
	"os"
	"syscall"
)

var endings, warnings = []os.Signal{os.Interrupt, syscall.SIGTERM}, []os.Signal(nil)

func ignorePipes() {}

func nameOf(s syscall.Signal) string { return s.String() }
