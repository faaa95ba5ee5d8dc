package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/revgnn/revgnn/pkg/files"
)

// lineEvery is the time between two lines, which replace the bar if stderr is not a terminal.
const lineEvery = 10 * time.Second

// progress shows on stderr how far a command has come: a bar on a terminal, or else a line from time to time.
type progress struct {
	w        io.Writer
	quiet    bool
	terminal bool
	bar      *progressbar.ProgressBar
	about    string // what the bar or the last line is about
	last     time.Time
}

func (a *app) progress() *progress {
	p := &progress{w: a.stderr, quiet: a.quiet}
	if f, ok := a.stderr.(*os.File); ok && os.Getenv("TERM") != "dumb" {
		info, err := f.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return p
}

// at shows how far the work has come, for example "split 0", 12, 100, "epochs", "loss 0.5".
func (p *progress) at(about string, done, total int64, steps, detail string) {
	if p.quiet {
		return
	}
	if p.terminal {
		if p.about != about {
			p.end()
			p.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(p.w),
				progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(),
				progressbar.OptionSetWidth(16), progressbar.OptionSetPredictTime(true))
		}
		p.about = about
		p.bar.Describe(strings.TrimSpace(about + " " + detail))
		p.bar.Set64(done)
		return
	}
	if p.about != about {
		p.about, p.last = about, time.Now()
		return
	}
	if time.Since(p.last) >= lineEvery {
		p.last = time.Now()
		fmt.Fprintln(p.w, files.Printable(about+": "+
			strings.TrimSpace(fmt.Sprintf("%d of %d %s  %s", done, total, steps, detail))))
	}
}

func (p *progress) end() {
	if p.bar != nil {
		p.bar.Clear()
		p.bar = nil
	}
	p.about = ""
}

func (p *progress) line(format string, args ...any) {
	if p.quiet {
		return
	}
	p.end()
	fmt.Fprintln(p.w, files.Printable(fmt.Sprintf(format, args...)))
}

func (p *progress) download(file string, done, total int64) {
	p.at(file, done, total, "bytes", "")
}
