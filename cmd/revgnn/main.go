// Command revgnn trains and examines residual graph networks with forward and reverse layers: see "revgnn help".
//
// The exit status is 0 for success, 1 for failure, 2 for wrong usage, and 128 plus the signal's number after an
// interrupt. An error is one sentence on stderr. With --json, stdout is one JSON document, {"error": "…"} if there is
// no result.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/host"
	"github.com/revgnn/revgnn/pkg/plain"
)

func main() {
	engine.OnRefusal(func(err error) { fmt.Fprintln(os.Stderr, "revgnn: "+sentence(err)) })
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// usageError is an error in the command line, for which the exit status is 2.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func asUsage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

// run does the work of main, and returns the exit status. A signal ([host.Interruptible]) ends a command early, with
// its results so far.
func run(args []string, stdout, stderr io.Writer) (code int) {
	ctx, stop := host.Interruptible(context.Background())
	defer stop()
	out := &output{w: stdout}
	a := &app{stdout: out, stderr: stderr}
	root := a.root()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(stderr)
	defer context.AfterFunc(ctx, func() {
		if by, is := host.InterruptOf(ctx); is && !a.quiet {
			again := "; once more to end at once"
			if by.Warning() {
				again = ""
			}
			fmt.Fprintf(stderr, "%v: ending after the current step%s\n", by, again)
		}
	})()
	err := cmp.Or(a.execute(ctx, root), out.err())
	by, interrupted := host.InterruptOf(ctx)
	if err == nil {
		// The work may have ended before it noticed the signal. A script still learns that the user wants it to end. A
		// warning of a time limit is no such wish.
		if interrupted && !by.Warning() {
			return by.Status()
		}
		return 0
	}
	message := sentence(err)
	fmt.Fprintln(stderr, "revgnn: "+message)
	// Flags after a wrong one are not read: a.json may be false although --json is given.
	if (a.json || slices.Contains(args, "--json")) && !a.written {
		a.document(map[string]string{"error": message})
	}
	var usage usageError
	if errors.As(err, &usage) {
		return 2
	}
	if interrupted {
		return by.Status()
	}
	return 1
}

// maxMessage is the largest number of characters in an error message: one of the engine may contain a compiled program.
const maxMessage = 2000

// sentence returns an error in one line of at most maxMessage characters, none of which controls the terminal: the text
// may contain names from files.
func sentence(err error) string {
	text := []rune(plain.Text(strings.Join(strings.Fields(err.Error()), " ")))
	if len(text) > maxMessage {
		text = append(text[:maxMessage:maxMessage], '…')
	}
	return string(text)
}
