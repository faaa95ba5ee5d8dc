package paper

import (
	"fmt"

	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// onBoards asks for a training of figures 1 and 4: its record has what the head predicts from the state after each of
// some layers.
func (v *View) onBoards(c train.Config) runs.Answer[runs.Trained] {
	b := v.Profile.Boards
	t := runs.Training(b.Dataset, b.Split, c)
	t.Trace = &runs.Trace{Layers: b.Layers, Boards: append([]runs.Part{b.Shown}, b.Predictions...)}
	return runs.Ask[runs.Trained](v.View, t)
}

func (d *Document) otherModel(model string) {
	if model != "gcn+rep" {
		d.note("The paper shows GCN+ReP. This profile has %s.", titleOf(model))
	}
}

// strip is a row of maps of the predictions from each state, and of the mines.
func strip(states []runs.Layer, mines []float64) report.Strip {
	var panels []report.Panel
	for _, s := range states {
		panels = append(panels, report.Panel{Title: fmt.Sprintf("layer %d", s.Layer), Values: s.Boards[0]})
	}
	return report.Strip{Panels: append(panels, report.Panel{Title: "mines", Values: mines})}
}

// representations makes figure 1.
func representations(v *View) *Document {
	d := &Document{}
	d.note("The paper: %s", statement(1).Says)
	b := v.Profile.Boards
	show := func(id, title string, c train.Config, a runs.Answer[runs.Trained],
		states func(*runs.Traced) []runs.Layer) {
		f, why := statesOf(a)
		if why != "" {
			d.note("%s: %s.", title, why)
			return
		}
		d.Figures = append(d.Figures, report.Boards(id, v.title(title), "probability of a mine",
			b.Shown.Side, b.Shown.Side, []report.Strip{strip(states(f), f.Boards[0].Mines)}))
		d.note("%s: %s layers, width %d, test ROC-AUC %.3f.", title, c.Depth(), c.Hidden, a.Outcome.Test)
	}
	forward := func(f *runs.Traced) []runs.Layer { return f.Forward }
	backward := func(f *runs.Traced) []runs.Layer { return f.Reverse }
	both, one := b.Reverse.Config, b.Plain.Config
	d.otherModel(both.Model)
	show("fig1-forward", titleOf(both.Model)+", forward process", both, v.onBoards(both), forward)
	show("fig1-reverse", titleOf(both.Model)+", reverse process", both, v.onBoards(both), backward)
	show("fig1-"+one.Model, titleOf(one.Model)+", forward process only", one, v.onBoards(one), forward)
	d.note("A %d x %d part of the board, from row %d and column %d (counted from 0). Each map is the probability of "+
		"a mine that the trained head gives when it reads this layer alone, with zeros in the place of the other "+
		"direction, as in the paper; layer 0 is the encoded input. An empty map: the head gives nearly the same "+
		"probability to all cells.",
		b.Shown.Side, b.Shown.Side, b.Shown.Row, b.Shown.Col)
	return d
}
