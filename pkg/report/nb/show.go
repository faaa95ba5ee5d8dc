// Package nb shows figures, tables and live progress in the cells of a Go notebook (GoNB). Outside a notebook, the same
// calls write plain lines to stderr.
package nb

import (
	"fmt"
	"os"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/revgnn/revgnn/pkg/report"
)

// Show displays a figure or a table below the cell. Of a figure that is, at first, and for readers of an untrusted or
// saved notebook always, a static picture; an interactive chart where the notebook may run scripts. It panics where the
// figure can't be drawn, which fails the cell with the reason.
func Show(f report.Item) {
	html, err := f.HTML()
	if err != nil {
		panic(err)
	}
	if !gonbui.IsNotebook {
		fmt.Fprintln(os.Stderr, f.Text())
		return
	}
	gonbui.SendData(&protocol.DisplayData{Data: map[protocol.MIMEType]any{
		protocol.MIMETextHTML:  html,
		protocol.MIMETextPlain: f.Text(),
	}})
	gonbui.Sync() // the cell's process may end right after this
}
