// Command bench compares the time and memory that revgnn and other programs need for training steps. The programs run
// on the same machine, one after the other. The other programs are:
//
//   - the peer, a script that trains the same model in PyTorch: bench/peer.py is GCN+ReP, written by hand as an expert
//     would write it, and bench/pyg.py has baselines that consist of PyTorch Geometric's layers;
//   - the code of the paper's authors, if a checkout of it is given (bench/authors.py runs it).
//
// Examples:
//
//	go run ./bench                                # the default cases, with revgnn and the peer
//	go run ./bench --authors ~/reverse-gnn        # the same, and the authors' code
//	go run ./bench --cases pyg                    # the baselines
//	go run ./bench --cases gcn-minesweeper --rounds 5
//
// A case is a model of a given size on a graph. The file data/bench/cases.json lists the cases. In a case, all programs
// have the same graph, split, depth, width, tolerances, loss, optimiser and initial weights. In each round, every
// program runs once, in a process of its own. So changes in the speed of the machine affect all programs alike, and
// peak memory is measured for each program separately. A run's time is the median over its steps, without the first
// step. The tables have the medians of these times over all rounds. They also have the ratio of each program's time to
// revgnn's, as the median over all rounds. PyTorch Geometric can read a graph in several layouts (data structures).
// Short trials before the first round find the layout in which it is fastest. The tables also have the largest relative
// difference between revgnn's losses and another program's losses in the same step. If it is small, both compute the
// same.
//
// After every case, Command bench writes files to the output folder: bench.json (all runs, the machine and versions of
// programs), bench.md (tables) and bench.svg (a figure of the ratios).
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// options of the command line.
type options struct {
	setup
	out, cases string
	rounds     int
	steps      int
	limit      time.Duration
	list       bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, flag.CommandLine, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, f *flag.FlagSet, args []string) error {
	all, err := cases()
	if err != nil {
		return err
	}
	o := options{}
	o.add(f)
	short := f.Bool("quick", false, "one round of the quick cases")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *short {
		o.cases, o.rounds = "quick", 1
	}
	switch {
	case f.NArg() > 0:
		return fmt.Errorf("it takes no argument such as %q: see -help", f.Arg(0))
	case o.list:
		for _, c := range all {
			fmt.Println(c.Name)
		}
		return nil
	}
	return o.compare(ctx, all)
}

func (o *options) add(f *flag.FlagSet) {
	f.StringVar(&o.cases, "cases", "default",
		"cases: default, all, quick, or beginnings of names with commas between; -list lists them")
	f.IntVar(&o.rounds, "rounds", 2, "rounds, in each of which every program runs once")
	f.IntVar(&o.steps, "steps", 0, "steps of every run, two at least (else each case's own number)")
	f.StringVar(&o.python, "python", os.Getenv("BENCH_PYTHON"),
		"a Python with "+packages+" for the peer (else BENCH_PYTHON, out/bench/venv, python3)")
	f.StringVar(&o.authors, "authors", "",
		"a checkout of ml-postech/reverse-gnn; its Python needs torch_geometric and more, see bench/authors.py")
	f.StringVar(&o.data, "data", "", "data directory (else REVGNN_DATA, else the user's cache folder)")
	f.StringVar(&o.engine, "engine", "", "revgnn's engine (else its own choice)")
	f.StringVar(&o.revgnn, "revgnn", filepath.Join("bin", "revgnn"), "the program to time, made by `make build`")
	f.StringVar(&o.out, "out", filepath.Join("out", "bench"), "folder for results, graphs and weights")
	f.DurationVar(&o.limit, "limit", 15*time.Minute, "time limit of one process")
	f.BoolVar(&o.list, "list", false, "list the cases and stop")
}
