package host

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

// Status is the exit status of a program that a signal ended, as in shells: 128 plus the signal's number.
func (i Interrupt) Status() int { return 128 + int(i.Signal) }

// InterruptOf is the signal that ended a context of [Interruptible], or one derived from it; is is false if it has not
// ended by a signal.
func InterruptOf(ctx context.Context) (by Interrupt, is bool) {
	is = errors.As(context.Cause(ctx), &by)
	return by, is
}

// grace is the time after a signal in which a further signal is ignored as a repetition: timeout(1) sends two.
const grace = time.Second

// Interruptible is a context that ends, with an [Interrupt] as its cause, when the program is asked to end: by Ctrl-C
// or a notebook's stop button (SIGINT), by a scheduler (SIGTERM), by a closing terminal (SIGHUP), or by a scheduler's
// warning before a time limit (SIGUSR1). A second SIGINT, SIGTERM or SIGHUP ends the process at once. Signals that
// were ignored when the process started, as by nohup, stay ignored. stop restores the signals' usual effects.
//
// From the first signal on, writing to a closed pipe does not end the process, since Ctrl-C ends all programs of a
// pipeline.
func Interruptible(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 8)
	for _, s := range slices.Concat(endings, warnings) {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	go attend(signals, cancel)
	return ctx, func() {
		signal.Stop(signals)
		close(signals)
		cancel(nil)
	}
}

// attend waits for signals, and handles them.
func attend(signals <-chan os.Signal, cancel context.CancelCauseFunc) {
	var asked time.Time
	for s := range signals {
		by := Interrupt{s.(syscall.Signal)}
		ignorePipes()
		cancel(by) // the first is the cause
		switch {
		case slices.Contains(warnings, s):
		case asked.IsZero():
			asked = time.Now()
		case time.Since(asked) > grace:
			os.Exit(by.Status())
		}
	}
}
