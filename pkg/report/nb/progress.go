package nb

import (
	"fmt"
	"html"
	"io"
	"os"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// interval is the shortest time between updates: short enough to look live, long enough to cost nothing.
const interval = 200 * time.Millisecond

// A Bar is a progress bar with a line of text: one output of a cell, replaced by each update. Goroutines may share it.
type Bar struct {
	mu    sync.Mutex
	title string
	start time.Time
	shown time.Time
	now   func() time.Time
	show  func(fraction float64, text string, done bool)
}

// Progress shows an empty bar under a title. Call [Bar.Done] at the end.
func Progress(title string) *Bar {
	b := &Bar{title: title, start: time.Now(), now: time.Now}
	if gonbui.IsNotebook {
		// Jupyter updates an output by its ID. Each bar needs a new ID for its output, even if the same cell is run
		// again: running a cell clears its outputs, and Jupyter ignores updates of an output that was cleared.
		id := gonbui.UniqueId()
		b.show = func(fraction float64, text string, done bool) {
			gonbui.SendData(&protocol.DisplayData{DisplayID: id, Data: map[protocol.MIMEType]any{
				protocol.MIMETextHTML:  page(title, fraction, text),
				protocol.MIMETextPlain: plain(title, fraction, text),
			}})
			if done {
				gonbui.Sync()
			}
		}
	} else {
		b.show = func(fraction float64, text string, done bool) { line(os.Stderr, title, fraction, text, done) }
	}
	b.Update(0, "starting")
	return b
}

// Update moves the bar to a fraction from 0 to 1; at most five updates a second are shown.
func (b *Bar) Update(fraction float64, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	if now.Sub(b.shown) < interval {
		return
	}
	b.shown = now
	b.show(fraction, text, false)
}

// Done fills the bar, and shows the text and the time.
func (b *Bar) Done(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.show(1, fmt.Sprintf("%s (%.1f s)", text, b.now().Sub(b.start).Seconds()), true)
}

func page(title string, fraction float64, text string) string {
	return fmt.Sprintf(`<div style="font-family:Helvetica,Arial,sans-serif;font-size:13px;margin:4px 0">`+
		`<b>%s</b> <progress value="%.3f" max="1" style="width:240px;vertical-align:middle">%.0f %%</progress> `+
		`%s</div>`, html.EscapeString(title), clamp(fraction), 100*clamp(fraction), html.EscapeString(text))
}

func plain(title string, fraction float64, text string) string {
	return fmt.Sprintf("%s %3.0f %%  %s", title, 100*clamp(fraction), text)
}

func line(w io.Writer, title string, fraction float64, text string, done bool) {
	fmt.Fprintf(w, "\r\x1b[K%s", plain(title, fraction, text))
	if done {
		fmt.Fprintln(w)
	}
}

func clamp(fraction float64) float64 { return max(0, min(1, fraction)) }
