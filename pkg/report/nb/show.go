// Package nb shows figures, tables and live progress in the cells of a Go notebook, and passes values from cell to
// cell. Outside a notebook, the same calls write plain text to stderr.
//
// GoNB, the Go kernel for Jupyter, compiles each cell as a program of its own, which starts without the variables of
// earlier cells. Therefore [Save] stores a value in a file, and [Load] reads it in a later cell. Package live trains
// networks, and returns [Runs], the results of several trainings. The methods of Runs compare these results in tables
// and figures:
//
//	runs := nb.Load[nb.Runs]("runs")
//	nb.Show(runs.Table("scores", "Scores", nb.Validation(2), nb.Test(2)), runs.Losses("loss", "Loss while training"))
//
// Package nb depends neither on the engine, which compiles and runs networks, nor on the trainer. A cell that only
// shows something is therefore compiled in half the time of a cell that trains.
package nb

import (
	"fmt"
	"os"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/revgnn/revgnn/pkg/report"
)

// Show displays figures, tables and other items below the cell. A figure is shown as a static picture at first. If the
// notebook may run scripts, an interactive chart replaces the picture. Otherwise the picture stays, for example if
// Jupyter does not trust the notebook. If an item cannot be drawn, Show panics with the reason, so that the cell fails.
func Show(items ...report.Item) {
	for _, item := range items {
		show(item)
	}
	if gonbui.IsNotebook {
		gonbui.Sync() // wait until the output is shown, since the cell's process may end right after this call
	}
}

func show(item report.Item) {
	html, err := item.HTML()
	if err != nil {
		panic(err)
	}
	if !gonbui.IsNotebook {
		fmt.Fprintln(os.Stderr, item.Text())
		return
	}
	gonbui.SendData(&protocol.DisplayData{Data: map[protocol.MIMEType]any{
		protocol.MIMETextHTML:  html,
		protocol.MIMETextPlain: item.Text(),
	}})
}
