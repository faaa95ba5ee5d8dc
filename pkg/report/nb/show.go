// Package nb shows figures, tables and progress in cells of a Go notebook, and passes values from cell to cell. Outside
// a notebook it writes plain text to stderr.
//
// GoNB compiles each cell as a program of its own, without the variables of earlier cells: [Save] stores a value in a
// file, and [Load] reads it. Package live trains networks and returns [Runs], whose methods compare them:
//
//	runs := nb.Load[nb.Runs]("runs")
//	nb.Show(runs.Table("scores", "Scores", nb.Validation(2), nb.Test(2)), runs.Losses("loss", "Loss while training"))
//
// The package depends on neither engine nor trainer, so that a cell that only shows compiles in half the time.
package nb

import (
	"fmt"
	"os"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/revgnn/revgnn/pkg/report"
)

// Show displays items below the cell: figures as pictures that become interactive where scripts may run. It panics if
// an item cannot be drawn, so that the cell fails.
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
