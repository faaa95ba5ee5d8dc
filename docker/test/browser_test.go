package images_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A person has a browser of their own, without a history.
type person struct {
	name, password string
	tab            context.Context
}

// browser starts one, or skips where there is none.
func browser(t *testing.T, name string) *person {
	t.Helper()
	program := ""
	for _, p := range []string{os.Getenv("CHROME"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(p); p != "" && err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("no Chromium or Chrome here: run `make browser`, or set CHROME to one")
	}
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), chromedp.ExecPath(program),
		chromedp.WindowSize(1280, 900), chromedp.Flag("headless", true), chromedp.Flag("no-sandbox", true),
		chromedp.Flag("disable-gpu", true), chromedp.Flag("no-first-run", true),
		chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")) // no network
	t.Cleanup(cancel)
	tab, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	// The browser lives as long as the context of the first action, so that has no time limit.
	if err := chromedp.Run(tab, emulation.SetFocusEmulationEnabled(true)); err != nil {
		t.Fatalf("starting the browser: %v", err)
	}
	// JupyterLab asks whether to leave a notebook that is not saved: yes.
	chromedp.ListenTarget(tab, func(event any) {
		if _, asks := event.(*page.EventJavascriptDialogOpening); asks {
			go func() { _ = chromedp.Run(tab, page.HandleJavaScriptDialog(true)) }()
		}
	})
	return &person{name: name, tab: tab}
}

// do runs actions, and keeps a picture of the page where they fail.
func (p *person) do(t *testing.T, what string, actions ...chromedp.Action) {
	t.Helper()
	limited, cancel := context.WithTimeout(p.tab, 3*time.Minute)
	defer cancel()
	if err := chromedp.Run(limited, actions...); err != nil {
		t.Fatalf("%s, %s: %v; the page: %s", p.name, what, err, p.picture(t, ""))
	}
}

// eval evaluates JavaScript; what fails while a page changes counts as no value.
func eval[T any](t *testing.T, p *person, expression string) (value T) {
	t.Helper()
	limited, cancel := context.WithTimeout(p.tab, 3*time.Minute)
	defer cancel()
	_ = chromedp.Run(limited, chromedp.Evaluate(expression, &value))
	return value
}

// until waits until a JavaScript expression is true, and says how long that took.
func (p *person) until(t *testing.T, expression string, limit time.Duration) time.Duration {
	t.Helper()
	start := time.Now()
	for !eval[bool](t, p, expression) {
		if time.Since(start) > limit {
			t.Fatalf("%s: %s is not true within %v; the page: %s", p.name, expression, limit, p.picture(t, ""))
		}
		time.Sleep(100 * time.Millisecond)
	}
	return time.Since(start)
}

// picture takes a picture of the page, in the folder REVGNN_TEST_PICTURES where it has a name.
func (p *person) picture(t *testing.T, name string) string {
	t.Helper()
	folder := os.Getenv("REVGNN_TEST_PICTURES")
	if name != "" && folder == "" {
		return ""
	}
	if name == "" {
		folder, name = os.TempDir(), strings.ReplaceAll(t.Name(), "/", "-")+"-"+p.name
	}
	var png []byte
	limited, cancel := context.WithTimeout(p.tab, time.Minute)
	defer cancel()
	if err := chromedp.Run(limited, chromedp.CaptureScreenshot(&png)); err != nil {
		return err.Error()
	}
	file := filepath.Join(folder, name+".png")
	if err := os.WriteFile(file, png, 0o644); err != nil {
		return err.Error()
	}
	return file
}

// click clicks as a person does, in the middle of what a selector finds and whose text contains some words.
func (p *person) click(t *testing.T, selector, text string) {
	t.Helper()
	find := fmt.Sprintf(`(() => {
		const found = [...document.querySelectorAll(%q)].find(e => e.textContent.includes(%q) && e.getClientRects().length);
		if (!found) return null;
		const r = found.getBoundingClientRect();
		return [r.x + r.width / 2, r.y + r.height / 2];
	})()`, selector, text)
	var at []float64
	until(t, p.name+" sees "+selector+" "+text, time.Minute, func() bool {
		at = eval[[]float64](t, p, find)
		return len(at) == 2
	})
	// Menus take the item that the mouse has moved to.
	p.do(t, "clicking "+selector, chromedp.MouseEvent(input.MouseMoved, at[0]-1, at[1]),
		chromedp.MouseEvent(input.MouseMoved, at[0], at[1]), chromedp.MouseClickXY(at[0], at[1]))
}

// login fills in the hub's form, and returns the address that it leads to.
func (p *person) login(t *testing.T, hub, password string) string {
	t.Helper()
	p.do(t, "opening the hub", chromedp.Navigate(hub+"/hub/login"))
	p.until(t, "!!document.querySelector('#password_input')", 3*time.Minute)
	p.do(t, "logging in", chromedp.SendKeys("#username_input", p.name, chromedp.ByQuery),
		chromedp.SendKeys("#password_input", password, chromedp.ByQuery))
	p.picture(t, "login")
	p.do(t, "logging in", chromedp.SendKeys("#password_input", kb.Enter, chromedp.ByQuery))
	p.until(t, "document.readyState === 'complete' && (!location.pathname.startsWith('/hub/login') || "+
		"!!document.querySelector('.login_error'))", 3*time.Minute)
	return eval[string](t, p, "location.pathname")
}

// open opens a notebook in the person's JupyterLab, starting their server where it does not run.
func (p *person) open(t *testing.T, hub, notebook string) {
	t.Helper()
	p.do(t, "opening "+notebook, chromedp.Navigate(hub+"/user/"+p.name+"/lab/tree/"+notebook+"?reset"))
	p.until(t, "!!document.querySelector('.jp-Notebook .jp-CodeCell')", 2*time.Minute)
	p.until(t, connected, 2*time.Minute)
}

// idle is true while the open notebook's kernel waits, by the status bar.
const idle = `[...document.querySelectorAll('#jp-bottom-panel *')].some(e => /\| Idle$/.test(e.textContent.trim()))`

// connected is true once the open notebook has its kernel, whose state is "Unknown" before its first cell.
const connected = `[...document.querySelectorAll('#jp-bottom-panel *')].some(e => /\(revgnn\) \| (Idle|Unknown)$/.test(e.textContent.trim()))`

// runAll presses Run > Run All Cells.
func (p *person) runAll(t *testing.T) {
	t.Helper()
	p.click(t, ".lm-MenuBar-itemLabel", "Run")
	p.click(t, ".lm-Menu-itemLabel", "Run All Cells")
}
