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

// interval is the shortest time between two updates that are shown: short enough to look live, and long enough to cost
// hardly any time.
const interval = 200 * time.Millisecond

// A Bar is a progress bar with a line of text. It is one output of a cell, which is overwritten by each update. Its
// methods may be called from several goroutines.
type Bar struct {
	mu    sync.Mutex
	title string
	start time.Time
	shown time.Time
	now   func() time.Time
	show  func(fraction float64, text string, done bool)
}

// Progress shows an empty bar under the given title. End it with [Bar.Done].
func Progress(title string) *Bar {
	b := &Bar{title: title, start: time.Now(), now: time.Now}
	if gonbui.IsNotebook {
		// Each call has a new ID: Jupyter ignores updates of an output that a second run of the cell has cleared.
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

// Update moves the bar to the given fraction of the work, 0 to 1, and replaces its text. At most five updates are
// shown per second.
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

// Done fills the bar, and shows the text and the time taken.
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

// line overwrites the terminal's last line. With done it also ends the line.
func line(w io.Writer, title string, fraction float64, text string, done bool) {
	fmt.Fprintf(w, "\r\x1b[K%s", plain(title, fraction, text))
	if done {
		fmt.Fprintln(w)
	}
}

func clamp(fraction float64) float64 { return max(0, min(1, fraction)) }
