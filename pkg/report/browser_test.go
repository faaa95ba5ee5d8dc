package report

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/revgnn/revgnn/pkg/report/echarts"
)

// openPage opens a page in a real browser without network access. The test fails if a script on the page fails, or if
// the page requests anything except local files. The test is skipped if there is no browser.
func openPage(t *testing.T, html string) context.Context {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(html), 0o644); err != nil {
		t.Fatal(err)
	}
	return openAddress(t, "file://"+file, "file:")
}

// openAddress opens the page with the given address in a real browser, which can reach this machine only. The test
// fails if a script on the page fails, or if the page requests an address that does not begin with the text in the
// argument called below. The test is skipped if there is no browser.
func openAddress(t *testing.T, address, below string) context.Context {
	t.Helper()
	chrome := ""
	for _, name := range []string{os.Getenv("CHROME"), "chromium", "chromium-browser", "google-chrome",
		"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
		"/Applications/Chromium.app/Contents/MacOS/Chromium"} {
		if path, err := exec.LookPath(name); chrome == "" && name != "" && err == nil {
			chrome = path
		}
	}
	if chrome == "" {
		t.Skip("no Chromium or Chrome here: install one, or set CHROME to it, to test figures in the browser")
	}
	allocator, cancel := chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath(chrome), chromedp.WindowSize(1280, 1000),
		chromedp.Flag("headless", true),
		chromedp.Flag("no-sandbox", true), // the sandbox fails for root, as in containers; we trust our page
		chromedp.Flag("disable-gpu", true), chromedp.Flag("no-first-run", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")) // only this machine
	t.Cleanup(cancel)
	tab, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	limited, cancel := context.WithTimeout(tab, time.Minute)
	t.Cleanup(cancel)
	chromedp.ListenTarget(limited, func(event any) {
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, below) && !strings.HasPrefix(e.Request.URL, "data:") {
				t.Errorf("the page asks for %s", e.Request.URL)
			}
		case *cdpruntime.EventExceptionThrown:
			t.Errorf("the page's script fails: %v", e.ExceptionDetails)
		}
	})
	if err := chromedp.Run(limited, network.Enable(), cdpruntime.Enable(), chromedp.Navigate(address)); err != nil {
		t.Fatalf("opening the page: %v", err)
	}
	return limited
}

// until waits until a JavaScript expression is true on the page. The test fails if this takes more than 20 seconds.
func until(t *testing.T, page context.Context, expression string) {
	t.Helper()
	var got bool
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if err := chromedp.Run(page, chromedp.Evaluate(expression, &got)); err != nil {
			t.Fatalf("%s: %v", expression, err)
		}
		if got {
			return
		}
	}
	t.Fatalf("never true: %s", expression)
}

// pixel is a JavaScript function. It returns the colour of the slider figure at the point (x, y), for example
// "8,48,107" (red, green, blue). The numbers x and y are in CSS pixels.
const pixel = `((x, y) => {
	const c = document.querySelector('#slider canvas'), scale = c.width / c.clientWidth;
	return [...c.getContext('2d').getImageData(x * scale, y * scale, 1, 1).data].slice(0, 3).join();
})`

func TestPageInBrowser(t *testing.T) {
	needECharts(t)
	var items []Item
	for _, f := range all() {
		items = append(items, f)
	}
	html, err := Page("All & more", append(items, someTable())...)
	if err != nil {
		t.Fatal(err)
	}
	page := openPage(t, html)
	until(t, page, `document.querySelectorAll('.revgnn-figure[data-drawn=interactive] canvas').length === 6`)
	until(t, page, `document.title === 'All & more' && document.querySelectorAll('#heterophilic td').length === 25`)
}

// TestFigureBehindHub: a figure can load the library ECharts from a server that behaves like JupyterHub. This server
// sends the library only if a header of the request has the token that the server set as a cookie.
func TestFigureBehindHub(t *testing.T) {
	needECharts(t)
	library, err := echarts.Source()
	if err != nil {
		t.Fatal(err)
	}
	figure, err := someSlider().HTML()
	if err != nil {
		t.Fatal(err)
	}
	const token = "2|9e48|ab"
	hub := http.NewServeMux()
	hub.HandleFunc("/user/ada/lab", func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "_xsrf", Value: token, Path: "/user/ada/"})
		fmt.Fprintf(w, `<!DOCTYPE html><link rel="icon" href="data:,"><script id="jupyter-config-data" `+
			`type="application/json">{"baseUrl": "/user/ada/"}</script>%s`, figure)
	})
	hub.HandleFunc("/user/ada/"+KernelFile, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-XSRFToken") != token {
			http.Error(w, "log in", http.StatusForbidden)
			return
		}
		fmt.Fprint(w, library)
	})
	server := httptest.NewServer(hub)
	t.Cleanup(server.Close)
	page := openAddress(t, server.URL+"/user/ada/lab", server.URL)
	until(t, page, `!!document.querySelector('#slider[data-drawn=interactive] input[type=range]')`)
}

func TestSliderInBrowser(t *testing.T) {
	needECharts(t)
	html, err := Page("Slider", someSlider())
	if err != nil {
		t.Fatal(err)
	}
	page := openPage(t, html)
	until(t, page, `!!document.querySelector('#slider[data-drawn=interactive] input[type=range]')`)
	until(t, page, `document.querySelector('#slider output').textContent === 'layer 4'`)
	// The test moves the slider. Then it looks at the colour of one point in the upper left cell, beside the dot of
	// this cell. At the slider's first position, 0, the value of the cell is 0, shown by the lightest colour. At the
	// last position, 8, the value is 1, shown by the darkest colour.
	to := func(frame string) string {
		return `(() => {
			const i = document.querySelector('#slider input');
			i.value = ` + frame + `;
			i.dispatchEvent(new Event('input'));
			return document.querySelector('#slider output').textContent === 'layer ' + ` + frame + `;
		})()`
	}
	until(t, page, to("0"))
	until(t, page, pixel+`(70, 85) === '222,235,247'`)
	until(t, page, to("8"))
	until(t, page, pixel+`(70, 85) === '8,48,107'`)
	// Readers who have no mouse can move the slider with the arrow keys.
	if err := chromedp.Run(page, chromedp.Focus("#slider input", chromedp.ByQuery),
		chromedp.KeyEvent(kb.ArrowLeft)); err != nil {
		t.Fatal(err)
	}
	until(t, page, `document.querySelector('#slider output').textContent === 'layer 7'`)
}
