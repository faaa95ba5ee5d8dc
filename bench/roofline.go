package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/roofline"
	"github.com/revgnn/revgnn/pkg/train"
)

// Limit compares the measured time of an epoch with the least time that the machine needs for it.
type Limit struct{ roofline.Analysis }

// limitSteps is the number of training steps that are timed for a [Limit].
const limitSteps = 4

// limitFlags has the values of -roofline and of the flags that go with it. These flags name a case, and change settings
// of this case.
type limitFlags struct {
	on, json             bool
	name, dataset, model string
	// settings has the settings of the model that the command line sets. The keys are the names of their flags.
	settings map[string]string
}

// add defines -roofline and the flags that go with it. The flag -case names the case to measure. If it is not given,
// the first case with the field Limited set is measured. Each setting of the model of this first case has a flag, too.
func (l *limitFlags) add(f *flag.FlagSet, all []Case) error {
	first := slices.IndexFunc(all, func(c Case) bool { return c.Limited })
	if first < 0 {
		return errors.New("no case in data/bench/cases.json is limited: mark those that the roofline is measured for")
	}
	c := all[first]
	f.BoolVar(&l.on, "roofline", false, "measure a model of graph convolutions against the machine's rates instead")
	const with = "with -roofline: "
	f.BoolVar(&l.json, "json", false, with+"one JSON document instead of a table")
	f.StringVar(&l.name, "case", c.Name, with+"the case to measure; the other flags change it")
	f.StringVar(&l.dataset, "dataset", "", with+"another dataset, or communities:NODES or random:NODES")
	f.StringVar(&l.model, "model", "", with+"another model")
	l.settings = map[string]string{}
	for _, s := range c.Config.Config.Settings() {
		f.Func(s.Name, with+s.Help, func(text string) error { l.settings[s.Name] = text; return nil })
	}
	return nil
}

// change returns the case c with the changes that the flags ask for. A flag may name another model. This model then
// keeps all settings of the case that it has, too. If the flags change settings but do not set the bound on the
// weights, [bound] computes it from the depth and the width.
func (l *limitFlags) change(c Case) (Case, error) {
	if l.dataset != "" {
		c.Dataset = l.dataset
	}
	if l.model != "" {
		before := c.Config
		c.Config = train.Default(l.model)
		for _, s := range before.Config.Settings() {
			if c.Config.Value(s.Name) == nil {
				continue
			}
			if err := c.Config.Set(s.Name, fmt.Sprint(s.Current())); err != nil {
				return c, err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.settings)) {
		if err := c.Config.Set(name, l.settings[name]); err != nil {
			return c, err
		}
	}
	_, given := l.settings["lipschitz"]
	if len(l.settings) > 0 && !given && c.Config.Value("lipschitz") != nil {
		c.Config.Lipschitz = bound(c.Config.Reverse, c.Config.Hidden)
	}
	c.Config.Epochs = limitSteps
	return c, c.Config.Validate()
}

// limitAlone measures the case that the flags describe, and prints the result.
func (o *options) limitAlone(ctx context.Context, all []Case) error {
	l := o.roofline
	c, err := named(all, l.name)
	if err != nil {
		return err
	}
	if c, err = l.change(c); err != nil {
		return err
	}
	e, err := engine.Open(o.engine)
	if err != nil {
		return err
	}
	name := c.Dataset
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
	parameters, err := drawn(c.Config, g.NumFeatures, g.NumClasses)
	if err != nil {
		return err
	}
	a, err := roofline.Analyse(ctx, e, g, c.Config, parameters)
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

// addLimit measures the [Limit] of a case in a separate process, and adds it to the report.
func (o *options) addLimit(ctx context.Context, r *Report, x *Result) error {
	out, err := o.self(ctx, "-roofline", "-json", "-case", x.Case.Name)
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

// markdown returns the Limit as a table in Markdown.
func (l *Limit) markdown() (string, error) {
	t := &report.Table{ID: "limit", Corner: "kernel",
		Title: fmt.Sprintf("The limit: %s on %s, %d/%d/%d", l.Model, l.Graph, l.Forward, l.Reverse, l.Hidden),
		Columns: []report.Column{{Name: "times"}, {Name: "MFLOP"}, {Name: "MB"}, {Name: "ms"}, {Name: "least ms"},
			{Name: "fraction"}, {Name: "ms per epoch"}},
		Notes: []string{
			fmt.Sprintf("%d nodes, %d entries (%d stored with padding), iterations %.2f / %.2f; engine %s. "+
				"Rates: dense product %.0f GFLOP/s (large), %.0f (of this shape); "+
				"memory %.1f GB/s (large), %.1f (arrays of this size).",
				l.Nodes, l.Entries, l.Stored, l.Solve, l.Adjoint, l.Engine,
				l.Rates.Large/1e9, l.Rates.Own/1e9, l.Rates.Memory/1e9, l.Rates.Near/1e9),
			fmt.Sprintf("All kernels by themselves would take %.4g ms an epoch.", 1e3*l.Accounted)}}
	three := func(v float64) report.Cell { return report.Text(fmt.Sprintf("%.3g", v)) }
	for _, k := range l.Kernels {
		t.Rows = append(t.Rows, report.Row{Label: k.Name, Cells: []report.Cell{report.Number(k.Times, 0),
			three(k.Operations / 1e6), three(k.Bytes / 1e6), three(1e3 * k.Seconds), three(1e3 * k.Least),
			report.Number(k.Fraction, 2), three(1e3 * k.Times * k.Seconds)}})
	}
	t.Rows = append(t.Rows, report.Row{Label: "epoch", Cells: []report.Cell{{}, {}, {}, three(1e3 * l.EpochSeconds),
		three(1e3 * l.Least), report.Number(l.Fraction, 2), three(1e3 * l.EpochSeconds)}})
	return t.Markdown()
}
