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

// representations makes figure 1.
func representations(v *View) *Document {
	d := &Document{}
	b := v.Profile.Boards
	show := func(id string, c train.Config, process string, states func(*runs.Traced) []runs.Layer) {
		title, a := titleOf(c.Model)+", "+process, v.onBoards(c)
		f, why := statesOf(a)
		if why != "" {
			d.note("%s: %s.", title, why)
			return
		}
		var panels []report.Panel
		for _, s := range states(f) {
			panels = append(panels, report.Panel{Title: fmt.Sprintf("layer %d", s.Layer), Values: s.Boards[0]})
		}
		panels = append(panels, report.Panel{Title: "mines", Values: f.Boards[0].Mines})
		d.Figures = append(d.Figures, report.Boards(id, v.title(title), "probability of a mine",
			b.Shown.Side, b.Shown.Side, []report.Strip{{Panels: panels}}))
		d.note("%s: %s layers, width %d, test ROC-AUC %.3f.", title, c.Depth(), c.Hidden, a.Outcome.Test)
	}
	forward := func(f *runs.Traced) []runs.Layer { return f.Forward }
	backward := func(f *runs.Traced) []runs.Layer { return f.Reverse }
	d.otherModel(b.Reverse.Model)
	show("fig1-forward", b.Reverse.Config, "forward process", forward)
	show("fig1-reverse", b.Reverse.Config, "reverse process", backward)
	show("fig1-"+b.Plain.Model, b.Plain.Config, "forward process only", forward)
	d.note("A %d x %d part of the board, from row %d and column %d (counted from 0). Each map is the probability of "+
		"a mine that the trained head gives when it reads this layer alone, with zeros in the place of the other "+
		"direction, as in the paper; layer 0 is the encoded input. An empty map: the head gives nearly the same "+
		"probability to all cells.",
		b.Shown.Side, b.Shown.Side, b.Shown.Row, b.Shown.Col)
	return d
}

// predictions makes figure 4.
func predictions(v *View) *Document {
	d := &Document{}
	c := v.Profile.Boards.Reverse.Config
	d.otherModel(c.Model)
	title, a := titleOf(c.Model), v.onBoards(c)
	f, why := statesOf(a)
	if why != "" {
		d.note("%s: %s.", title, why)
		return d
	}
	forward, reverse := f.Forward[len(f.Forward)-1], f.Reverse[len(f.Reverse)-1]
	for i, part := range v.Profile.Boards.Predictions {
		at := i + 1 // Boards[0] is the part for figure 1
		d.Figures = append(d.Figures, report.Board(fmt.Sprintf("fig4-%d", at),
			v.title(fmt.Sprintf("Example %d: %d × %d cells, from row %d and column %d on", at, part.Side, part.Side,
				part.Row, part.Col)),
			"probability of a mine", part.Side, part.Side, []report.Panel{
				{Title: "forward only", Values: forward.Boards[at]},
				{Title: "reverse only", Values: reverse.Boards[at]},
				{Title: "both", Values: f.Boards[at].Probability},
				{Title: "truth", Values: f.Boards[at].Mines},
			}))
	}
	d.note("%s with %d forward and %d reverse layers, test ROC-AUC %.3f. In the maps of one direction the head "+
		"reads zeros in the place of the other, as in the paper. The parts were drawn by chance, once; rows and "+
		"columns of the board are counted from 0, and the axes count from the corner of the part.",
		title, forward.Layer, reverse.Layer, a.Outcome.Test)
	return d
}
