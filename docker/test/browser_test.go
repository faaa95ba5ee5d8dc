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

// A person is a user of the hub in these tests. Each person has a browser without a history, which no other person
// uses.
type person struct {
	name, password string
	tab            context.Context
}

// browser starts a browser for the person with this name. If no browser is installed, the test is skipped.
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
	// The browser ends with the context of its first action. So this context has no time limit.
	if err := chromedp.Run(tab, emulation.SetFocusEmulationEnabled(true)); err != nil {
		t.Fatalf("starting the browser: %v", err)
	}
	// JupyterLab asks in a dialog whether to leave a notebook that is not saved. This code always answers yes.
	chromedp.ListenTarget(tab, func(event any) {
		if _, asks := event.(*page.EventJavascriptDialogOpening); asks {
			go func() { _ = chromedp.Run(tab, page.HandleJavaScriptDialog(true)) }()
		}
	})
	return &person{name: name, tab: tab}
}

// do runs actions in the browser. The argument what describes them in words. If an action fails, the test fails, and
// its message has the path of a picture of the page.
func (p *person) do(t *testing.T, what string, actions ...chromedp.Action) {
	t.Helper()
	limited, cancel := context.WithTimeout(p.tab, 3*time.Minute)
	defer cancel()
	if err := chromedp.Run(limited, actions...); err != nil {
		t.Fatalf("%s, %s: %v; the page: %s", p.name, what, err, p.picture(t, ""))
	}
}

// eval evaluates a JavaScript expression in the page, and returns its value. Evaluation may fail while the page
// changes. Then eval returns the zero value.
func eval[T any](t *testing.T, p *person, expression string) (value T) {
	t.Helper()
	limited, cancel := context.WithTimeout(p.tab, 3*time.Minute)
	defer cancel()
	_ = chromedp.Run(limited, chromedp.Evaluate(expression, &value))
	return value
}

// until waits until a JavaScript expression is true, and returns how long that took. If it takes longer than limit, the
// test fails.
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

// picture saves a picture of the page, and returns its path. If name is given, the picture goes to the folder that the
// environment variable REVGNN_TEST_PICTURES names; if this variable is not set, there is no picture. If name is empty,
// the picture goes to the folder for temporary files.
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

// click clicks with the mouse into the middle of a visible element that the selector finds, and that contains the given
// text. It waits until there is such an element.
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
	// A click in a menu acts on the item to which the mouse has moved. So the mouse must move there first.
	p.do(t, "clicking "+selector, chromedp.MouseEvent(input.MouseMoved, at[0]-1, at[1]),
		chromedp.MouseEvent(input.MouseMoved, at[0], at[1]), chromedp.MouseClickXY(at[0], at[1]))
}

// login fills in the hub's login form, and returns the path of the page to which this leads.
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

// open opens a notebook in the person's JupyterLab, and waits until the notebook has a kernel.
func (p *person) open(t *testing.T, hub, notebook string) {
	t.Helper()
	p.do(t, "opening "+notebook, chromedp.Navigate(hub+"/user/"+p.name+"/lab/tree/"+notebook+"?reset"))
	p.until(t, "!!document.querySelector('.jp-Notebook .jp-CodeCell')", 2*time.Minute)
	p.until(t, connected, 2*time.Minute)
}

// idle is a JavaScript expression. It is true if JupyterLab's status bar says that the kernel of the open notebook is
// idle.
const idle = `[...document.querySelectorAll('#jp-bottom-panel *')].some(e => /\| Idle$/.test(e.textContent.trim()))`

// connected is a JavaScript expression. It is true once JupyterLab's status bar shows a kernel for the open notebook.
// The bar shows the state "Unknown" until the kernel has run a cell.
const connected = `[...document.querySelectorAll('#jp-bottom-panel *')].some(e => /\(revgnn\) \| (Idle|Unknown)$/.test(e.textContent.trim()))`

// runAll presses Run > Run All Cells.
func (p *person) runAll(t *testing.T) {
	t.Helper()
	p.click(t, ".lm-MenuBar-itemLabel", "Run")
	p.click(t, ".lm-Menu-itemLabel", "Run All Cells")
}
