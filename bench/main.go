package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/files"
)

// options of the command line.
type options struct {
	setup
	out, cases string
	rounds     int
	steps      int
	limit      time.Duration
	roofline   limitFlags
}

func main() {
	o := options{}
	f := flag.CommandLine
	f.StringVar(&o.cases, "cases", "default", "cases: default, all, quick, or beginnings of names with commas between; -list lists them")
	f.IntVar(&o.rounds, "rounds", 2, "rounds, in each of which every programme runs once")
	f.IntVar(&o.steps, "steps", 0, "steps of every run, two at least (else each case's own number)")
	f.StringVar(&o.python, "python", os.Getenv("BENCH_PYTHON"), "a Python with torch and numpy for the peer (else BENCH_PYTHON, out/bench/venv, python3)")
	f.StringVar(&o.authors, "authors", "", "a checkout of ml-postech/reverse-gnn; its Python needs torch_geometric and more, see bench/authors.py")
	f.StringVar(&o.data, "data", "", "data directory (else REVGNN_DATA, else the user's cache folder)")
	f.StringVar(&o.engine, "engine", "", "revgnn's engine (else its own choice)")
	f.StringVar(&o.revgnn, "revgnn", filepath.Join("bin", "revgnn"), "the programme to time, made by `make build`")
	f.StringVar(&o.out, "out", filepath.Join("out", "bench"), "folder for results, graphs and weights")
	f.DurationVar(&o.limit, "limit", 15*time.Minute, "time limit of one process")
	short := f.Bool("quick", false, "one round of the quick cases")
	list := f.Bool("list", false, "list the cases and stop")
	only := f.String("prepare", "", "make the graph and the weights of the case of that name, print where they are as JSON, and stop")
	o.roofline.add(f)
	f.Parse(os.Args[1:])
	if *short {
		o.cases, o.rounds = "quick", 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	switch {
	case f.NArg() > 0:
		err = fmt.Errorf("it takes no argument such as %q: see -help", f.Arg(0))
	case *list:
		for _, c := range cases() {
			fmt.Println(c.Name)
		}
	case *only != "":
		err = o.prepareOne(ctx, *only)
	case o.roofline.on:
		err = o.limitAlone(ctx)
	default:
		err = o.compare(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// prepareOne is the work of the process that prepares a case.
func (o *options) prepareOne(ctx context.Context, name string) error {
	for _, c := range cases() {
		if c.Name == name {
			p, err := prepare(ctx, c, o.out, datasets.Options{Dir: o.data})
			if err != nil {
				return err
			}
			return json.NewEncoder(os.Stdout).Encode(p)
		}
	}
	return fmt.Errorf("no case is called %q: -list lists them", name)
}

// compare runs the cases. An interrupt ends it after writing what is finished.
func (o *options) compare(ctx context.Context) error {
	chosen, err := selected(o.cases)
	if err != nil {
		return err
	}
	if o.rounds < 1 {
		return fmt.Errorf("rounds is %d: choose at least 1", o.rounds)
	}
	if o.steps < 0 || o.steps == 1 {
		return fmt.Errorf("steps is %d: choose 2 at least, since the first is not counted", o.steps)
	}
	if err := o.check(); err != nil {
		return err
	}
	r := &Report{Machine: examine(o.setup), Rounds: o.rounds, Started: now()}
	var programmes []string
	programmes, r.Missing = o.available()
	for _, which := range slices.Sorted(maps.Keys(r.Missing)) {
		fmt.Fprintf(os.Stderr, "bench: without the %s: %s\n", which, r.Missing[which])
	}
	for i, c := range chosen {
		if o.steps > 0 {
			c.Config.Epochs, c.AuthorsSteps = o.steps, min(o.steps, c.AuthorsSteps)
		}
		fmt.Fprintf(os.Stderr, "bench: case %d of %d, %s\n", i+1, len(chosen), c.Name)
		x, err := o.one(ctx, c, programmes)
		if x != nil {
			r.Results = append(r.Results, x)
		}
		if ctx.Err() == nil && err == nil && slices.Contains(limited, c.Name) {
			err = o.addLimit(ctx, r, x)
		}
		r.Finished = now()
		if failed := r.write(o.out); failed != nil {
			return failed
		}
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted; %d cases are finished, see %s", len(r.Results), o.out)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "bench: case %s: %v\n", c.Name, err)
		}
	}
	text, err := r.markdown()
	if err != nil {
		return err
	}
	fmt.Print(text)
	fmt.Fprintf(os.Stderr, "bench: written to %s\n", o.out)
	return nil
}

// check finds what the programmes need.
func (o *options) check() error {
	if _, err := os.Stat(o.revgnn); err != nil {
		return fmt.Errorf("there is no %s: run `make build`, or name the programme with -revgnn", o.revgnn)
	}
	if err := files.Writable(o.out); err != nil {
		return err
	}
	if o.authors != "" {
		if _, err := os.Stat(filepath.Join(o.authors, "src", "model_resgnn_rep.py")); err != nil {
			return fmt.Errorf("%s is no checkout of ml-postech/reverse-gnn: it has no src/model_resgnn_rep.py", o.authors)
		}
	}
	o.peerScript, o.authorsScript = filepath.Join("bench", "peer.py"), filepath.Join("bench", "authors.py")
	if _, err := os.Stat(o.peerScript); err != nil {
		return fmt.Errorf("there is no %s here: run it at the top of a checkout", o.peerScript)
	}
	python, err := findPython(o.python, o.out)
	o.python = python
	return err
}

// findPython is a Python that has torch and numpy: the given one, which must, else the one that `make peer` installs, else
// python3; empty if none has.
func findPython(given, out string) (string, error) {
	has := func(python string) bool { return exec.Command(python, "-c", "import torch, numpy").Run() == nil }
	if given != "" {
		if !has(given) {
			return "", fmt.Errorf("%s cannot import torch and numpy: install them there, or name another Python", given)
		}
		return given, nil
	}
	for _, python := range []string{filepath.Join(out, "venv", "bin", "python"), "python3"} {
		if has(python) {
			return python, nil
		}
	}
	return "", nil
}

// one runs a case: in each round, every programme once. The result holds the runs that were finished.
func (o *options) one(ctx context.Context, c Case, programmes []string) (*Result, error) {
	p, err := o.prepared(ctx, c)
	if err != nil {
		return nil, err
	}
	x := &Result{Case: c, Graph: p, Skipped: map[string]string{}}
	defer x.summarise()
	for round := range o.rounds {
		for _, which := range programmes {
			free := int64(0)
			if which == Authors {
				free = o.doctor().Free
			}
			args, skip := o.command(which, c, p, free)
			if skip != "" {
				x.Skipped[which] = skip
				continue
			}
			r, err := execute(ctx, which, round+1, args, o.limit)
			if err != nil {
				return x, err
			}
			x.Runs = append(x.Runs, r)
			fmt.Fprintf(os.Stderr, "bench:   round %d, %s: %s\n", round+1, which, told(r))
		}
	}
	return x, nil
}

// prepared runs prepareOne in a process of its own.
func (o *options) prepared(ctx context.Context, c Case) (p Prepared, err error) {
	out, err := o.self(ctx, "-prepare", c.Name)
	if err == nil {
		err = json.Unmarshal(out, &p)
	}
	return p, err
}

// self runs this programme with other flags.
func (o *options) self(ctx context.Context, args ...string) ([]byte, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var stderr strings.Builder
	c := exec.CommandContext(ctx, program, append([]string{"-out", o.out, "-data", o.data, "-engine", o.engine}, args...)...)
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, strings.TrimPrefix(last(stderr.String()), "bench: "))
	}
	return out, nil
}

func told(r Run) string {
	if r.Error != "" {
		return r.Error
	}
	return fmt.Sprintf("%.4g s per epoch, %.0f MB, %.0f s in all", r.EpochSeconds, float64(r.PeakBytes)/1e6, r.Seconds)
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }

// write writes the report's files.
func (r *Report) write(dir string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	tables, err := r.markdown()
	if err != nil {
		return err
	}
	contents := map[string]string{"bench.json": string(text) + "\n", "bench.md": tables}
	if f := r.figure(); f != nil {
		svg, err := f.SVG()
		if err != nil {
			fmt.Fprintf(os.Stderr, "bench: no figure: %v\n", err)
		} else {
			contents["bench.svg"] = svg
		}
	}
	for name, content := range contents {
		if err := files.Write(filepath.Join(dir, name), func(w io.Writer) error { _, err := io.WriteString(w, content); return err }); err != nil {
			return err
		}
	}
	return nil
}
