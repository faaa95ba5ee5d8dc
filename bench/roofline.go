package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strconv"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/roofline"
)

// Limit is an epoch against what the machine allows.
type Limit struct{ roofline.Analysis }

// limited are the cases that the roofline is measured for beside the comparison.
var limited = []string{"gcn-chameleon-1-64-256", "gcn-minesweeper-1-64-64", "gcn-tolokers-1-8-128"}

// limitSteps of training are timed.
const limitSteps = 4

// limitFlags are those of -roofline.
type limitFlags struct {
	on, json                bool
	dataset, model          string
	forward, reverse, width int
}

func (l *limitFlags) add(f *flag.FlagSet) {
	f.BoolVar(&l.on, "roofline", false, "measure one GCN against the machine's rates instead: -dataset, -model, -forward, -reverse, -hidden")
	f.BoolVar(&l.json, "json", false, "with -roofline: one JSON document instead of a table")
	f.StringVar(&l.dataset, "dataset", "minesweeper", "with -roofline: a dataset, or communities:NODES or random:NODES")
	f.StringVar(&l.model, "model", "gcn+rep", "with -roofline: gcn or gcn+rep")
	f.IntVar(&l.forward, "forward", 1, "with -roofline: forward layers")
	f.IntVar(&l.reverse, "reverse", 64, "with -roofline: reverse layers")
	f.IntVar(&l.width, "hidden", 64, "with -roofline: width")
}

// limitAlone measures what the flags say, and prints it.
func (o *options) limitAlone(ctx context.Context) error {
	l := o.roofline
	c := config(l.model, l.forward, l.reverse, l.width)
	c.Epochs = limitSteps
	if err := c.Validate(); err != nil {
		return err
	}
	e, err := engine.Open(o.engine)
	if err != nil {
		return err
	}
	name := l.dataset
	if s, ok, err := parseSynthetic(name); err != nil {
		return err
	} else if ok {
		if name, err = s.ensure(graphsIn(o.out)); err != nil {
			return err
		}
	}
	g, err := datasets.Load(ctx, name, datasets.Options{Dir: o.data})
	if err != nil {
		return err
	}
	parameters, err := drawn(c, g.NumFeatures, g.NumClasses)
	if err != nil {
		return err
	}
	a, err := roofline.Analyse(ctx, e, g, c, parameters)
	if err != nil {
		return err
	}
	if l.json {
		return json.NewEncoder(os.Stdout).Encode(a)
	}
	text, err := (&Limit{*a}).markdown()
	if err != nil {
		return err
	}
	fmt.Print(text)
	return nil
}

// addLimit measures a case in a process of its own.
func (o *options) addLimit(ctx context.Context, r *Report, x *Result) error {
	k := x.Case.Config
	number := func(n int) string { return strconv.Itoa(n) }
	out, err := o.self(ctx, "-roofline", "-json", "-dataset", x.Case.Dataset, "-model", k.Model, "-forward", number(k.Forward), "-reverse", number(k.Reverse), "-hidden", number(k.Hidden))
	if err != nil {
		return fmt.Errorf("roofline: %w", err)
	}
	var l Limit
	if err := json.Unmarshal(out, &l); err != nil {
		return err
	}
	r.Limits = append(r.Limits, l)
	return nil
}

// markdown is the analysis as a table.
func (l *Limit) markdown() (string, error) {
	t := &report.Table{ID: "limit", Title: fmt.Sprintf("The limit: %s on %s, %d/%d/%d", l.Model, l.Graph, l.Forward, l.Reverse, l.Hidden), Corner: "kernel",
		Columns: []report.Column{{Name: "times"}, {Name: "MFLOP"}, {Name: "MB"}, {Name: "ms"}, {Name: "least ms"}, {Name: "fraction"}, {Name: "ms per epoch"}},
		Notes: []string{fmt.Sprintf("%d nodes, %d entries (%d stored with padding), iterations %.2f / %.2f; engine %s. Rates: dense product %.0f GFLOP/s (large), %.0f (of this shape); memory %.1f GB/s (large), %.1f (arrays of this size).",
			l.Nodes, l.Entries, l.Stored, l.Solve, l.Adjoint, l.Engine, l.Rates.Large/1e9, l.Rates.Own/1e9, l.Rates.Memory/1e9, l.Rates.Near/1e9),
			fmt.Sprintf("All kernels by themselves would take %.4g ms an epoch.", 1e3*l.Accounted)}}
	three := func(v float64) report.Cell { return report.Text(fmt.Sprintf("%.3g", v)) }
	for _, k := range l.Kernels {
		t.Rows = append(t.Rows, report.Row{Label: k.Name, Cells: []report.Cell{report.Number(k.Times, 0), three(k.Operations / 1e6), three(k.Bytes / 1e6), three(1e3 * k.Seconds), three(1e3 * k.Least),
			report.Number(k.Fraction, 2), three(1e3 * k.Times * k.Seconds)}})
	}
	t.Rows = append(t.Rows, report.Row{Label: "epoch", Cells: []report.Cell{{}, {}, {}, three(1e3 * l.EpochSeconds), three(1e3 * l.Least), report.Number(l.Fraction, 2), three(1e3 * l.EpochSeconds)}})
	return t.Markdown()
}
