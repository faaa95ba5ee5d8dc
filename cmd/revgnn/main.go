// Command revgnn trains and examines residual graph networks with forward and reverse layers: see "revgnn help".
//
// Exit status: 0 done, 1 failed, 2 wrong usage, 128 and the signal's number after an interrupt. Errors are one
// sentence on stderr. With --json, stdout gets exactly one JSON document; a command that fails without a result writes
// {"error": "…"}.
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

// usageError is an error of the caller: exit status 2.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// asUsage marks an error, if there is one, as the caller's.
func asUsage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

// run is main with its surroundings as arguments. What asks the command to end (see [host.Interruptible]) has it stop
// and report what it has.
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
			fmt.Fprintf(stderr, "%v: ending after the current epoch; once more to end at once\n", by)
		}
	})()
	err := cmp.Or(a.execute(ctx, root), out.err())
	if err == nil {
		return 0
	}
	message := sentence(err)
	fmt.Fprintln(stderr, "revgnn: "+message)
	// A wrong flag may have kept --json from being read.
	if (a.json || slices.Contains(args, "--json")) && !a.written {
		a.document(map[string]string{"error": message})
	}
	var usage usageError
	if errors.As(err, &usage) {
		return 2
	}
	if by, is := host.InterruptOf(ctx); is {
		return by.Status()
	}
	return 1
}

// maxMessage bounds error messages; the engine's can be whole programs.
const maxMessage = 2000

// sentence puts an error on one line of a readable length. It may have names from files, which must not steer the
// terminal.
func sentence(err error) string {
	text := []rune(plain.Text(strings.Join(strings.Fields(err.Error()), " ")))
	if len(text) > maxMessage {
		text = append(text[:maxMessage:maxMessage], '…')
	}
	return string(text)
}
