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

// Status is the exit status of a program that was ended by the signal. As in shells, it is 128 plus the signal's
// number.
func (i Interrupt) Status() int { return 128 + int(i.Signal) }

// InterruptOf is the signal that ended ctx, which is a context made by [Interruptible] or derived from one. The result
// is is false if ctx was not ended by a signal.
func InterruptOf(ctx context.Context) (by Interrupt, is bool) {
	is = errors.As(context.Cause(ctx), &by)
	return by, is
}

// grace is the time after the first signal in which a second one does not end the process. It counts as a repetition of
// the first, since the command timeout sends its signal twice.
const grace = time.Second

// Interruptible is a context that ends when a signal asks the program to end. The cause of the context's end is then an
// [Interrupt]. The signals are SIGINT (Ctrl-C, or a notebook's stop button), SIGTERM (a scheduler), SIGHUP (a terminal
// that is closed) and SIGUSR1 (a scheduler's warning before a time limit). A second SIGINT, SIGTERM or SIGHUP ends the
// process at once, if it comes more than a second after the first. Signals that were ignored when the process started,
// for example because of nohup, stay ignored. stop restores the usual effects of the signals.
//
// After the first signal, writing to a closed pipe does not end the process any more, but returns an error. Ctrl-C ends
// all programs of a pipeline, so that the program that reads this program's output may have ended before it.
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

// attend handles signals until the channel is closed: the first one cancels the context.
func attend(signals <-chan os.Signal, cancel context.CancelCauseFunc) {
	var asked time.Time
	for s := range signals {
		by := Interrupt{s.(syscall.Signal)}
		ignorePipes()
		cancel(by) // a context keeps the cause of its first cancellation
		switch {
		case slices.Contains(warnings, s):
		case asked.IsZero():
			asked = time.Now()
		case time.Since(asked) > grace:
			os.Exit(by.Status())
		}
	}
}
