// Command revgnn trains and examines residual graph networks with forward and reverse layers: see "revgnn help".
//
// The exit status is 0 for success, 1 for failure, 2 for wrong usage, and 128 plus the signal's number after an
// interrupt. An error is one sentence on stderr. With --json, the command writes exactly one JSON document to stdout.
// If the command fails without a result, this document is {"error": "…"}.
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
	if err := host.Tune(); err != nil {
		fmt.Fprintln(os.Stderr, "revgnn: "+err.Error())
	}
	engine.AfterCompile(host.Trim)
	engine.OnRefusal(func(err error) { fmt.Fprintln(os.Stderr, "revgnn: "+sentence(err)) })
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// usageError is an error in the command line, such as an unknown flag. The exit status is then 2.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// asUsage marks an error as one in the command line, by making it a [usageError]. If err is nil, it returns nil.
func asUsage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

// run does the work of main. Its arguments are the command line and the writers for stdout and stderr, and it returns
// the exit status. So tests can call it, too. If a signal asks the process to end ([host.Interruptible]), the command
// stops early and reports its results so far.
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
		// The work may have ended before it noticed the signal, so that nothing is missing. A script still learns by
		// the exit status that the user wants it to end. A warning of a time limit is no such wish.
		if interrupted && !by.Warning() {
			return by.Status()
		}
		return 0
	}
	message := sentence(err)
	fmt.Fprintln(stderr, "revgnn: "+message)
	// Flags are not read any further after a wrong flag. So a.json may be false although --json is given.
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

// maxMessage is the largest number of characters in an error message. Longer messages are cut: an error of the engine
// may contain a whole compiled program.
const maxMessage = 2000

// sentence returns the text of an error in one line, cut after maxMessage characters. The text may contain names from
// files. Therefore characters that control the terminal are replaced ([plain.Text]).
func sentence(err error) string {
	text := []rune(plain.Text(strings.Join(strings.Fields(err.Error()), " ")))
	if len(text) > maxMessage {
		text = append(text[:maxMessage:maxMessage], '…')
	}
	return string(text)
}
