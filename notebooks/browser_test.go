package notebooks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/report/echarts"
)

// A page is a browser tab that cannot reach any machine but this one. It records what goes wrong in the tab.
type page struct {
	context.Context
	tab      context.Context // the tab's context without a deadline
	mu       sync.Mutex
	outside  []string // addresses of other machines that it asked for
	problems []string // errors on its console
}

// browser opens a tab in a new browser without a history. If no browser is installed, the test is skipped.
func browser(t *testing.T) *page {
	t.Helper()
	allocator, cancel := chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath(chrome(t)),
		chromedp.WindowSize(1280, 1000),
		chromedp.Flag("headless", true),
		chromedp.Flag("no-sandbox", true), // root, as in containers, can't have the sandbox; all pages are ours
		chromedp.Flag("disable-gpu", true),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("no-first-run", true),
		chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"), // no network
	)
	t.Cleanup(cancel)
	tab, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel) // waits until the browser is gone
	limited, cancel := context.WithTimeout(tab, 5*time.Minute)
	t.Cleanup(cancel)
	p := &page{Context: limited, tab: tab}
	chromedp.ListenTarget(limited, p.listen)
	if err := chromedp.Run(limited, network.Enable(), cdpruntime.Enable(),
		emulation.SetFocusEmulationEnabled(true)); err != nil {
		t.Fatalf("starting the browser: %v", err)
	}
	return p
}

func chrome(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("CHROME"), "chromium", "chromium-browser", "google-chrome",
		"google-chrome-stable",
		"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
		"/Applications/Chromium.app/Contents/MacOS/Chromium"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	t.Skip("no Chromium or Chrome here: install one, or set CHROME to it, to test figures in the browser")
	return ""
}

func (p *page) listen(event any) {
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		for _, start := range []string{"http://127.0.0.1:", "file:", "data:", "blob:"} {
			if strings.HasPrefix(e.Request.URL, start) {
				return
			}
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.outside = append(p.outside, e.Request.URL)
	case *cdpruntime.EventConsoleAPICalled:
		if e.Type == cdpruntime.APITypeError {
			var said []string
			for _, a := range e.Args {
				said = append(said, string(a.Value)+a.Description)
			}
			p.problem(strings.Join(said, " "))
		}
	case *cdpruntime.EventExceptionThrown:
		p.problem(e.ExceptionDetails.Error())
	}
}

func (p *page) problem(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problems = append(p.problems, text)
}

// do runs actions in the page. The argument what describes them in words. If an action fails, the test fails. Its
// message has the path of a screenshot, and the errors on the page's console.
func (p *page) do(t *testing.T, what string, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(p, actions...); err != nil {
		t.Fatalf("%s: %v; the page: %s; its console: %q", what, err, p.screenshot(t), p.problems)
	}
}

// screenshot saves a picture of the page, which helps to find out why a test failed. It returns the path of the
// picture.
func (p *page) screenshot(t *testing.T) string {
	var png []byte
	after, cancel := context.WithTimeout(p.tab, 10*time.Second)
	defer cancel()
	if err := chromedp.Run(after, chromedp.CaptureScreenshot(&png)); err != nil {
		return err.Error()
	}
	file := filepath.Join(os.TempDir(), strings.ReplaceAll(t.Name(), "/", "-")+".png")
	if err := os.WriteFile(file, png, 0o644); err != nil {
		return err.Error()
	}
	return file
}

// quiet fails the test if the page has asked for an address outside this machine, or if its console has errors.
func (p *page) quiet(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.outside) > 0 {
		t.Errorf("the page asked for addresses elsewhere: %q", p.outside)
	}
	if len(p.problems) > 0 {
		t.Errorf("errors on the page's console: %q", p.problems)
	}
}

// inked is a JavaScript expression. It counts the pictures that a CSS selector finds, and how many of them are drawn. A
// picture counts as drawn if more than a hundred of its pixels are neither white nor transparent.
const inked = `(selector => {
	let pictures = [...document.querySelectorAll(selector)], drawn = 0;
	for (const p of pictures) {
		const canvas = document.createElement('canvas');
		canvas.width = p.naturalWidth || p.width;
		canvas.height = p.naturalHeight || p.height;
		if (!canvas.width || !canvas.height || !p.getClientRects().length) continue;
		const c = canvas.getContext('2d');
		c.drawImage(p, 0, 0);
		const d = c.getImageData(0, 0, canvas.width, canvas.height).data;
		let ink = 0;
		for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 0 && d[i] + d[i + 1] + d[i + 2] < 740) ink++;
		if (ink > 100) drawn++;
	}
	return selector + ': ' + pictures.length + ' pictures, ' + drawn + ' drawn';
})(%q)`

// until waits until a JavaScript expression has the wanted value. If this takes more than 30 seconds, the test fails.
// (chromedp has functions that wait, too. But they search the whole document, and hang in JupyterLab.)
func (p *page) until(t *testing.T, expression string, want any) {
	t.Helper()
	var got any
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		p.do(t, "looking at the page", chromedp.Evaluate(expression, &got))
		if got == want {
			return
		}
	}
	t.Fatalf("%.80s is %v, want %v; the page: %s; its console: %q", expression, got, want, p.screenshot(t), p.problems)
}

// see waits until the page has exactly n pictures that the selector finds, and all of them are drawn.
func (p *page) see(t *testing.T, selector string, n int) {
	t.Helper()
	p.until(t, fmt.Sprintf(inked, selector), fmt.Sprintf("%s: %[2]d pictures, %[2]d drawn", selector, n))
}

// TestPages opens the HTML pages of all notebooks in a browser. It checks that their figures are interactive, and that
// the slider in the page of the notebook minesweeper works.
func TestPages(t *testing.T) {
	all := executed(t) // before the browser is opened, whose time is limited
	p := browser(t)
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			p.do(t, "opening the page", chromedp.Navigate("file://"+filepath.Join(folder, s.name+".html")))
			p.see(t, ".revgnn-figure[data-drawn=interactive] canvas", s.figures)
			if s.name == "minesweeper" {
				p.slide(t, "#minesweeper-layers")
			}
			p.quiet(t)
		})
	}
}

// slide moves the slider of a figure to its end. The test fails unless this changes the figure's text and the figure's
// picture.
func (p *page) slide(t *testing.T, figure string) {
	t.Helper()
	const state = `(() => {
		const f = document.querySelector(%q);
		return f.querySelector('output').textContent + ' ' + f.querySelector('canvas').toDataURL();
	})()`
	var before, after string
	p.do(t, "looking at the slider", chromedp.Evaluate(fmt.Sprintf(state, figure), &before))
	p.do(t, "moving the slider", chromedp.Evaluate(fmt.Sprintf(`(() => {
		const input = document.querySelector(%q).querySelector('input[type=range]');
		input.value = input.max;
		input.dispatchEvent(new Event('input'));
	})()`, figure), nil))
	time.Sleep(500 * time.Millisecond) // ECharts draws at the next frame
	p.do(t, "looking at the slider", chromedp.Evaluate(fmt.Sprintf(state, figure), &after))
	textBefore, pictureBefore, _ := strings.Cut(before, " data:")
	textAfter, pictureAfter, _ := strings.Cut(after, " data:")
	if textBefore == textAfter || pictureBefore == pictureAfter {
		t.Errorf("the slider at its end still shows %q, and the picture changed: %t",
			textAfter, pictureBefore != pictureAfter)
	}
}

// TestPagesWithoutScripts opens the HTML pages of all notebooks, but without their scripts. (Code hosts, such as
// GitHub, show notebooks without running scripts.) The page must then show each figure as an image that needs no
// script.
func TestPagesWithoutScripts(t *testing.T) {
	all := executed(t) // before the browser is opened, whose time is limited
	p := browser(t)
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(folder, s.name+".html"))
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "page.html")
			if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(text), "<script>", `<script type="none">`)),
				0o644); err != nil {
				t.Fatal(err)
			}
			p.do(t, "opening the page", chromedp.Navigate("file://"+file))
			p.see(t, ".revgnn-figure img", s.figures)
			p.see(t, ".revgnn-figure canvas", 0)
			p.quiet(t)
		})
	}
}

// TestVSCode shows figures as VS Code's notebooks do: as the inner HTML of an element whose scripts run again at its
// end. Without ECharts, they are pictures, and with it interactive.
func TestVSCode(t *testing.T) {
	library, err := echarts.Source()
	if err != nil {
		t.Skip(err)
	}
	var figures string
	for _, id := range []string{"one", "two"} {
		text, err := report.Curves(id, id, "x", "y", []report.Series{{Name: "s", X: []float64{0, 1}, Y: []float64{1, 2}}}).HTML()
		if err != nil {
			t.Fatal(err)
		}
		figures += text
	}
	html, err := json.Marshal(figures)
	if err != nil {
		t.Fatal(err)
	}
	p := browser(t)
	for _, c := range []struct {
		name, library, selector string
	}{{"pictures", "", ".revgnn-figure img"}, {"interactive", library, ".revgnn-figure[data-drawn=interactive] canvas"}} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "page.html")
			text := fmt.Sprintf(`<!DOCTYPE html><meta charset="utf-8"><script>%s</script><div id="output"></div><script>
				const output = document.getElementById('output');
				output.innerHTML = %s;
				for (const old of [...output.querySelectorAll('script')]) {
					const script = document.createElement('script');
					script.text = old.textContent;
					old.parentNode.appendChild(script).parentNode.removeChild(script);
				}</script>`, c.library, strings.ReplaceAll(string(html), "</", `<\/`))
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			p.do(t, "opening the page", chromedp.Navigate("file://"+file))
			p.see(t, c.selector, 2)
		})
	}
}
