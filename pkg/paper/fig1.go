package paper

import (
	"fmt"

	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/train"
)

// The parts of the Minesweeper board that figures 1 and 4 show, drawn once by chance.
var (
	layersPart     = Part{Row: 61, Col: 23, Side: 10, Width: 100}
	predictedParts = []Part{{Row: 12, Col: 78, Side: 7, Width: 100}, {Row: 84, Col: 35, Side: 7, Width: 100}}
)

// boards are the runs behind figures 1 and 4: GCN+ReP and a plain GCN on Minesweeper, followed layer by layer.
func (v *View) boards() (rep, plain Answer[Trained]) {
	c := v.Profile.Boards
	follow := &Follow{Layers: []int{0, 1, 2, 4, 8, 16, 32, 64, 128, 256}, Boards: append([]Part{layersPart}, predictedParts...)}
	with, without := training("minesweeper", 0, c[0]), training("minesweeper", 0, c[1])
	with.Follow, without.Follow = follow, follow
	return ask[Trained](v, with), ask[Trained](v, without)
}

// representations is figure 1: what the head sees in each layer of a part of the board.
func representations(v *View) *Document {
	d := &Document{}
	d.note("The paper: %s", claim(1).Says)
	rep, plain := v.boards()
	c := v.Profile.Boards
	show := func(id, title string, c train.Config, a Answer[Trained], reverse bool) {
		if !a.ok() || a.Outcome.Followed == nil {
			d.note("%s: %s.", title, a.Why)
			return
		}
		f := a.Outcome.Followed
		states := f.Forward
		if reverse {
			states = f.Reverse
		}
		var panels []report.Panel
		for _, s := range states {
			panels = append(panels, report.Panel{Title: fmt.Sprintf("layer %d", s.Layer), Values: s.Boards[0]})
		}
		panels = append(panels, report.Panel{Title: "mines", Values: f.Boards[0].Mines})
		d.Figures = append(d.Figures, report.Boards(id, v.title(title), "probability of a mine", layersPart.Side, layersPart.Side, []report.Strip{{Panels: panels}}))
		d.note("%s: %s layers, width %d, test ROC-AUC %.3f.", title, depths(c), c.Hidden, a.Outcome.Test)
	}
	show("fig1-forward", "GCN+ReP, forward process", c[0], rep, false)
	show("fig1-reverse", "GCN+ReP, reverse process", c[0], rep, true)
	show("fig1-gcn", "GCN, forward process only", c[1], plain, false)
	d.note("A %d x %d part of the board, from row %d and column %d (counted from 0). Each map is the probability of a mine that the trained head gives when it reads this layer alone, with zeros in the place of the other direction, as in the paper; layer 0 is the encoded input.",
		layersPart.Side, layersPart.Side, layersPart.Row, layersPart.Col)
	return d
}
