// Command bench compares the time and memory that revgnn and other programs need for training steps, on one machine,
// one after the other:
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
// A case (data/bench/cases.json) is a model of a given size on a graph. All programs have the same graph, split, depth,
// width, tolerances, loss, optimiser and initial weights. In each round, every program runs once, in a process of its
// own, so that changes in the speed of the machine affect all alike. A run's time is the median over its steps, without
// the first. The tables have medians over the rounds of times, peak memory, and ratios to revgnn's, and the largest
// relative difference of losses in the same step, which is small if both compute the same. Short trials find the layout
// of the graph in which PyTorch Geometric is fastest.
//
// After every case, bench.json (all runs, the machine and versions), bench.md (tables) and bench.svg (the ratios) are
// written to the output folder.
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
	list := f.Bool("list", false, "list the cases and stop")
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
	case *list:
		for _, c := range all {
			fmt.Println(c.Name)
		}
		return nil
	}
	return o.compare(ctx, all)
}
