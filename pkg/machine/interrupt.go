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

// Warning tells whether the signal is SIGUSR1, by which a scheduler warns of a time limit. If it comes twice, it does
// not end the process.
func (i Interrupt) Warning() bool { return slices.Contains(warnings, os.Signal(i.Signal)) }

// InterruptOf returns the signal that ended ctx, which is a context made by [Interruptible] or derived from such a
// context. The second result is false if ctx has not ended, or if something else ended it.
func InterruptOf(ctx context.Context) (by Interrupt, is bool) {
	is = errors.As(context.Cause(ctx), &by)
	return by, is
}

// grace is a time after the first signal. A second signal within this time does not end the process. The reason is the
// shell command "timeout", which sends its signal twice.
const grace = time.Second

// Interruptible returns a context that ends when a signal asks the program to end. The context's cause (context.Cause)
// is then an [Interrupt]. Such signals are SIGINT (Ctrl-C, or a notebook's stop button), SIGTERM (from a scheduler) and
// SIGHUP (the terminal was closed). SIGUSR1 is also such a signal: a scheduler sends it some time before a time limit.
// A second SIGINT, SIGTERM or SIGHUP ends the process at once, unless it comes within a second of the first; SIGUSR1
// does not count as the first. Signals that were ignored when the process started, for example because of nohup, stay
// ignored. The function stop restores the usual effects of the signals.
//
// After the first signal, writing to a closed pipe does not end the process any more, but returns an error. This is
// needed for pipelines: Ctrl-C ends all programs of a pipeline, so that the program that reads from this one may have
// ended already.
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

// attend receives signals from a channel until the channel is closed. After the first signal it calls cancel, which
// ends the context that [Interruptible] returned. After a later signal it may end the process, as the comment of
// [Interruptible] says.
func attend(signals <-chan os.Signal, cancel context.CancelCauseFunc) {
	var asked time.Time
	for s := range signals {
		by := Interrupt{s.(syscall.Signal)}
		ignorePipes()
		cancel(by) // Only the first call has an effect.
		switch {
		case slices.Contains(warnings, s):
		case asked.IsZero():
			asked = time.Now()
		case time.Since(asked) > grace:
			os.Exit(by.Status())
		}
	}
}
