package notebooks_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

const token = "revgnn-test"

// A server is a JupyterLab that only this test uses. root is its folder of notebooks, and env has its environment
// variables.
type server struct {
	address, root string
	env           []string
}

// lab starts a JupyterLab with three kinds of notebooks: all executed notebooks (such as fig1.ipynb), copies of them
// that are marked as trusted (trusted-fig1.ipynb), and a notebook that has not been executed (fresh.ipynb). JupyterLab
// runs the scripts in a notebook's saved outputs only if the notebook is trusted.
func lab(t *testing.T) *server {
	t.Helper()
	s := newServer(t)
	copied := func(from, to string, change ...string) string {
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		to = filepath.Join(s.root, to)
		if err := os.WriteFile(to, []byte(strings.NewReplacer(change...).Replace(string(text))), 0o644); err != nil {
			t.Fatal(err)
		}
		return to
	}
	copied("testdata/figures.ipynb", "fresh.ipynb")
	trusted := []string{"trust"}
	for _, n := range executed(t) {
		file := filepath.Join(folder, n.name+".ipynb")
		copied(file, n.name+".ipynb")
		// Jupyter recognises trusted notebooks by their content. So the copy must differ from the original, which must
		// not be trusted.
		trusted = append(trusted, copied(file, "trusted-"+n.name+".ipynb", `"<div id=`, `"<div data-copy=\"1\" id=`))
	}
	trust := exec.Command(filepath.Join(venv(t), "bin", "jupyter"), trusted...)
	trust.Env = s.env
	if out, err := trust.CombinedOutput(); err != nil {
		t.Fatalf("jupyter trust: %v\n%s", err, out)
	}
	s.start(t)
	return s
}

// newServer returns a server that has not been started, with an empty folder for notebooks. It uses none of the user's
// Jupyter settings, trusted notebooks and running servers.
func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{root: t.TempDir(), env: os.Environ()}
	for _, name := range []string{"JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"} {
		s.env = append(s.env, name+"="+t.TempDir())
	}
	return s
}

// start starts JupyterLab, and ends it when the test ends.
func (s *server) start(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	listener.Close()

	cmd := exec.Command(filepath.Join(venv(t), "bin", "jupyter-lab"), "--no-browser", "--allow-root",
		"--ip=127.0.0.1", fmt.Sprintf("--port=%d", port), "--ServerApp.port_retries=0",
		"--IdentityProvider.token="+token, "--ServerApp.root_dir="+s.root, "--LabApp.expose_app_in_browser=True",
		"--LabApp.check_for_updates_class=jupyterlab.handlers.announcements.NeverCheckForUpdate", "--LabApp.news_url=")
	cmd.Dir, cmd.Env = s.root, s.env
	cmd.WaitDelay = 5 * time.Second // a kernel may outlive the server
	var log locked
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // ends its kernels, too
		ended := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		ended.Stop()
		if t.Failed() {
			t.Logf("JupyterLab said:\n%s", log.String())
		}
	})
	s.address = fmt.Sprintf("http://127.0.0.1:%d/", port)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if r, err := http.Get(s.address + "api"); err == nil {
			r.Body.Close()
			return
		}
	}
	t.Fatalf("JupyterLab does not answer at %s", s.address)
}

// locked is a buffer that a process writes to while a test may read it.
type locked struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// openLab opens a notebook in JupyterLab.
func (p *page) openLab(t *testing.T, s *server, notebook string) {
	t.Helper()
	p.do(t, "opening "+notebook+" in JupyterLab",
		chromedp.EmulateViewport(1400, 6000), // Lab draws only the cells in view
		chromedp.Navigate(s.address+"lab/tree/"+notebook+"?reset&token="+token))
	p.until(t, "!!document.querySelector('.jp-Notebook .jp-CodeCell')", true)
}

// next opens another notebook in JupyterLab. Before that, it closes all open documents. For each document, it waits
// until the kernel has started, and ends the kernel.
func (p *page) next(t *testing.T, notebook string) {
	t.Helper()
	p.do(t, "opening "+notebook, chromedp.Evaluate(fmt.Sprintf(`void (async () => {
		for (const w of [...jupyterapp.shell.widgets('main')]) {
			await w.sessionContext?.ready;
			await w.sessionContext?.shutdown();
			w.dispose();
		}
		await jupyterapp.commands.execute('docmanager:open', {path: %[1]q});
		globalThis.opened = %[1]q;
	})()`, notebook), nil))
	p.until(t, fmt.Sprintf("globalThis.opened === %q && !!document.querySelector('.jp-Notebook .jp-Cell')", notebook),
		true)
}

func TestLab(t *testing.T) {
	t.Parallel()
	browser(t) // no need to start a server where there is none
	s := lab(t)
	p := browser(t)

	p.openLab(t, s, "fresh.ipynb")
	t.Run("executed here", func(t *testing.T) {
		// The command that runs all cells acts on the active document. If this document had no kernel yet, the command
		// would open a dialog. So this code activates the document, and waits for the kernel.
		p.until(t, `!!globalThis.jupyterapp && (() => {
			for (const w of jupyterapp.shell.widgets('main')) jupyterapp.shell.activateById(w.id);
			const context = jupyterapp.shell.currentWidget?.sessionContext;
			return context?.session?.kernel?.connectionStatus === 'connected';
		})()`, true)
		p.do(t, "running all cells",
			chromedp.Evaluate("void jupyterapp.commands.execute('notebook:run-all-cells')", nil))
		p.until(t, "!!document.querySelector('.jp-OutputArea progress')", true)
		p.see(t, ".revgnn-figure[data-drawn=interactive] canvas", figures)
		p.quiet(t)
	})
	for _, n := range executed(t) {
		t.Run(n.name+" untrusted", func(t *testing.T) {
			p.next(t, n.name+".ipynb")
			p.see(t, ".revgnn-figure img", n.figures)
			p.see(t, ".revgnn-figure canvas", 0)
			p.quiet(t)
		})
		t.Run(n.name+" trusted", func(t *testing.T) {
			p.next(t, "trusted-"+n.name+".ipynb")
			p.see(t, ".revgnn-figure[data-drawn=interactive] canvas", n.figures)
			if n.name == "minesweeper" {
				p.slide(t, "#minesweeper-layers")
			}
			p.quiet(t)
		})
	}
}
