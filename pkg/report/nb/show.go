// Package nb shows figures, tables and live progress in the cells of a Go notebook (GoNB), and takes values from cell
// to cell. Outside a notebook, the same calls write plain lines to stderr.
//
// Each cell is a program of its own: variables start afresh. What a later cell needs is kept by [Save] and returned by
// [Load]. Package live trains; it leaves [Runs], which are compared here:
//
//	runs := nb.Load[nb.Runs]("runs")
//	nb.Show(runs.Table("scores", "Scores", nb.Validation(2), nb.Test(2)), runs.Losses("loss", "Loss while training"))
//
// This package needs neither the engine nor the trainer, so that a cell that only shows something is compiled in half
// the time of one that trains.
package nb

import (
	"fmt"
	"os"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/revgnn/revgnn/pkg/report"
)

// Show displays figures, tables and lists below the cell. Of a figure that is, at first, and for readers of an
// untrusted or saved notebook always, a static picture; an interactive chart where the notebook may run scripts. It
// panics where a figure can't be drawn, which fails the cell with the reason.
func Show(items ...report.Item) {
	for _, item := range items {
		show(item)
	}
	if gonbui.IsNotebook {
		gonbui.Sync() // the cell's process may end right after this
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
