package machine

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

// Interrupt is a signal that asked the program to end.
type Interrupt struct{ Signal syscall.Signal }

func (i Interrupt) Error() string { return "interrupted by " + nameOf(i.Signal) }

// Status is the exit status that a program should have after this signal: 128 plus the signal's number, as in shells.
func (i Interrupt) Status() int { return 128 + int(i.Signal) }

// Warning tells whether the signal is SIGUSR1, by which a scheduler warns of a time limit.
func (i Interrupt) Warning() bool { return slices.Contains(warnings, os.Signal(i.Signal)) }

// InterruptOf returns the signal that ended ctx, a context of [Interruptible] or derived from one. Is is false if it
// has not ended, or something else ended it.
func InterruptOf(ctx context.Context) (by Interrupt, is bool) {
	is = errors.As(context.Cause(ctx), &by)
	return by, is
}

// grace is the time in which a second signal does not end the process: the shell command timeout sends its signal
// twice.
const grace = time.Second

// Interruptible returns a context that ends when a signal asks the program to end, with an [Interrupt] as its cause:
// SIGINT (Ctrl-C, or a notebook's stop button), SIGTERM (a scheduler), SIGHUP (the terminal was closed), or SIGUSR1 (a
// scheduler's warning of a time limit). A second one ends the process at once, unless it comes within a second; SIGUSR1
// counts neither as the first nor as the second. Signals that were ignored at the start, for example by nohup, stay
// ignored. Stop restores the usual effects.
//
// After the first signal, writing to a closed pipe returns an error and does not end the process: Ctrl-C ends all
// programs of a pipeline, and the one that reads from this one may be gone. A library changes nothing of its process:
// this is for commands and notebooks.
func Interruptible(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 8)
	for _, s := range slices.Concat(endings, warnings) {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	go func() {
		var asked time.Time
		for s := range signals {
			by := Interrupt{s.(syscall.Signal)}
			ignorePipes()
			cancel(by) // only the first call has an effect
			switch {
			case by.Warning():
			case asked.IsZero():
				asked = time.Now()
			case time.Since(asked) > grace:
				os.Exit(by.Status())
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(signals)
		cancel(nil)
	}
}
