package paper

import (
	"fmt"

	"github.com/revgnn/revgnn/pkg/report"
)

// predictions makes figure 4.
func predictions(v *View) *Document {
	d := &Document{}
	d.note("The paper: %s", statement(4).Says)
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
