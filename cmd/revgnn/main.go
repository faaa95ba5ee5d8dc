// Command revgnn trains and examines residual graph networks with forward and reverse layers: see "revgnn help".
//
// Exit status: 0 done, 1 failed, 2 wrong usage. Errors are one sentence on stderr. With --json, stdout gets exactly
// one JSON document; a command that fails without a result writes {"error": "…"}.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

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

// grace is the time after an interrupt in which another one is taken for the same: timeout(1) sends two.
const grace = time.Second

// run is main with its surroundings as arguments. The first interrupt asks the command to stop and to report what it
// has; a later one ends the process.
func run(args []string, stdout, stderr io.Writer) (code int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() {
		time.Sleep(grace)
		stop()
	})
	out := &output{w: stdout}
	a := &app{stdout: out, stderr: stderr}
	root := a.root()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(stderr)
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
