// Command revgnn trains and examines residual graph networks with forward and reverse layers: see "revgnn help".
//
// The exit status is 0 for success, 1 for failure, 2 for wrong usage, and 128 plus the signal's number after an
// interrupt. An error is one sentence on stderr. With --json, stdout is one JSON document, {"error": "…"} if there is
// no result.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/machine"
	"github.com/revgnn/revgnn/pkg/runs"
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

// asUsageIf is asUsage of errors of a type, and returns others as they are.
func asUsageIf[T error](err error) error {
	var wrong T
	if errors.As(err, &wrong) {
		return usageError{err}
	}
	return err
}

// run does the work of main, and returns the exit status. A signal ([machine.Interruptible]) ends a command early, with
// its results so far.
func run(args []string, stdout, stderr io.Writer) (code int) {
	ctx, stop := machine.Interruptible(context.Background())
	defer stop()
	out := &output{w: stdout}
	a := &app{stdout: out, stderr: stderr}
	root := a.root()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(stderr)
	defer context.AfterFunc(ctx, func() {
		if by, is := machine.InterruptOf(ctx); is && !a.quiet {
			again := "; once more to end at once"
			if by.Warning() {
				again = ""
			}
			fmt.Fprintf(stderr, "%v: ending after the current step%s\n", by, again)
		}
	})()
	err := execute(ctx, root)
	if err == nil && out.failed != nil {
		err = fmt.Errorf("the result cannot be written: %w", out.failed)
	}
	by, interrupted := machine.InterruptOf(ctx)
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

func sentence(err error) string { return oneLine(err.Error()) }

// oneLine returns a text in one line of at most maxMessage characters, none of which controls the terminal: it may
// contain names from files.
func oneLine(message string) string {
	text := []rune(files.Printable(strings.Join(strings.Fields(message), " ")))
	if len(text) > maxMessage {
		text = append(text[:maxMessage:maxMessage], '…')
	}
	return string(text)
}

type app struct {
	stdout, stderr io.Writer
	engineName     string
	threads        int
	data           datasets.Options
	json, quiet    bool
	runsFile       string
	// written says that the command has written its JSON document, of which there must be only one.
	written bool
}

func (a *app) root() *cobra.Command {
	root := group("revgnn", "Graph neural networks whose layers also run backwards", a.doctor(), a.datasets(),
		a.train(), a.predict(), a.evaluate(), a.trace(), a.invert(), a.bench(), a.runs(), a.reproduce(), a.search(),
		a.claims(), a.work(), a.installPlugin(), a.version())
	for _, part := range [][]string{{"Train and use models:", "train", "predict", "evaluate", "trace", "search"},
		{"Measurements and the paper:", "bench", "invert", "reproduce", "claims"},
		{"Data and records:", "datasets", "runs", "jobs"}, {"This machine:", "doctor", "install-plugin", "version"}} {
		root.AddGroup(&cobra.Group{ID: part[0], Title: part[0]})
		for _, c := range root.Commands() {
			if slices.Contains(part[1:], c.Name()) {
				c.GroupID = part[0]
			}
		}
	}
	root.Long = "revgnn trains graph neural networks whose message-passing layers also run backwards, for research on " +
		"over-smoothing,\nheterophilic graphs and invertible layers, and for anyone who wants to classify the nodes of " +
		"a graph.\n\n" +
		"Forward layers smooth node features over the graph, and their inverses sharpen them. Begin with `revgnn doctor`,\n" +
		"which says what this machine has, and `revgnn train --help`, which lists datasets and models.\n\n" +
		"Exit status: 0 done, 1 failed, 2 wrong usage; 130 after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP, 138 after\n" +
		"SIGUSR1 on Linux: such a command ends after the current epoch, and a second Ctrl-C ends it at once. What `train\n" +
		"--out`, `reproduce` and `search` had done is kept: `train --resume` and the same `reproduce` or `search` go on\n" +
		"from there."
	// Cobra adds --version only if this is not empty. versionLine looks the version up, by git perhaps, which takes
	// time.
	root.Version = "set, so that there is a flag --version"
	cobra.AddTemplateFunc("versionLine", versionLine)
	root.SetVersionTemplate("{{versionLine}}")
	root.SilenceUsage, root.SilenceErrors = true, true
	root.SetFlagErrorFunc(flagError)
	f := root.PersistentFlags()
	f.StringVar(&a.engineName, "engine", "",
		"engine: xla:cuda, xla:cpu or go (default: $REVGNN_ENGINE, else the fastest that is installed)")
	f.IntVar(&a.threads, "threads", 0, "threads that XLA computes on on the CPU, on which last digits depend "+
		"(default: $"+engine.ThreadsVariable+", else as many as cores)")
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		if !c.Flags().Changed("threads") {
			return nil
		}
		if a.threads < 1 || a.threads > engine.MostThreads {
			return usagef("--threads is %d: give a number from 1 to %d", a.threads, engine.MostThreads)
		}
		// Engines read the variable, also in processes that are started.
		return os.Setenv(engine.ThreadsVariable, strconv.Itoa(a.threads))
	}
	f.StringVar(&a.data.Dir, "data", "", "data directory (default: $REVGNN_DATA, else the user's cache folder)")
	f.StringVar(&a.data.Mirror, "mirror", "", "folder or http(s) address to take dataset files from, by their names")
	f.BoolVar(&a.data.Offline, "offline", false, "never use the network")
	f.BoolVar(&a.json, "json", false, "write one JSON document to stdout")
	f.BoolVar(&a.quiet, "quiet", false, "no progress on stderr")
	return root
}

// group makes a command such as `revgnn datasets`, which only has other commands below it.
func group(use, short string, below ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs, SuggestionsMinimumDistance: 2}
	var names []string
	for _, b := range below {
		names = append(names, b.Name())
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		choose := "choose one of " + strings.Join(names, ", ")
		if len(args) == 0 {
			return usagef("no command given: %s (see '%s --help')", choose, c.CommandPath())
		}
		if near := c.SuggestionsFor(args[0]); len(near) > 0 {
			choose = "did you mean " + strings.Join(near, " or ") + "?"
		}
		return usagef("unknown command '%s %s': %s", c.CommandPath(), args[0], choose)
	}
	c.AddCommand(below...)
	return c
}

// execute runs the command. A panic is a bug: users get a sentence instead of a stack trace, unless REVGNN_DEBUG is
// set.
func execute(ctx context.Context, root *cobra.Command) (err error) {
	if os.Getenv("REVGNN_DEBUG") == "" {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("internal error: %v; "+
					"this is a bug, please report it with the output of REVGNN_DEBUG=1", p)
			}
		}()
	}
	return root.ExecuteContext(ctx)
}

func (a *app) document(v any) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	a.written = true
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("the result cannot be written: %w", err)
	}
	return a.write(text.Bytes())
}

// show writes v as JSON if --json is given, and otherwise the text that the function table makes.
func (a *app) show(v any, table func(w io.Writer)) error {
	if a.json {
		return a.document(v)
	}
	var text bytes.Buffer
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	table(w)
	w.Flush() // into memory
	return a.write(text.Bytes())
}

func pairs(w io.Writer, rows [][2]string) {
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\n", r[0], files.Printable(r[1]))
	}
}

// load loads a dataset, or makes one of the random graphs of [runs.Load]; an unknown name is wrong usage.
func (a *app) load(ctx context.Context, p *progress, name string) (*graphs.Graph, error) {
	data := a.data
	data.Progress = p.download
	g, err := runs.Load(ctx, name, data)
	p.end()
	if err == nil {
		for _, note := range g.Notes {
			p.line("note: %s", note)
		}
	}
	return g, asUsageIf[*datasets.NameError](err)
}

// prepare opens the engine and loads the dataset. An unknown engine is reported before an error about the dataset, and
// that before any other error of the engine.
func (a *app) prepare(ctx context.Context, p *progress, dataset string) (*engine.Engine, *graphs.Graph, error) {
	e, failed := engine.Open(a.engineName)
	if failed != nil && strings.HasPrefix(failed.Error(), "unknown engine") {
		return nil, nil, usageError{failed}
	}
	g, err := a.load(ctx, p, dataset)
	if err == nil {
		err = failed
	}
	return e, g, err
}

func versionText() string {
	return cmp.Or(machine.Versions()["revgnn"], "unknown (make build tells it)")
}

// output is a command's stdout. It keeps the first error, since cobra ignores errors when it writes a help text.
type output struct {
	w      io.Writer
	failed error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.w.Write(b)
	if o.failed == nil {
		o.failed = err
	}
	return n, err
}

// write writes text that may contain names from files: characters that control the terminal are replaced, except line
// ends and tabs.
func (a *app) write(text []byte) error {
	if _, err := io.WriteString(a.stdout, files.Printable(string(text), '\n', '\t')); err != nil {
		return fmt.Errorf("the result cannot be written: %w", err)
	}
	return nil
}
