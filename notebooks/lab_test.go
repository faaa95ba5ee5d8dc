package notebooks_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

const token = "revgnn-test"

// A server is a JupyterLab of the test's own.
type server struct {
	address, root string
	env           []string
}

// lab starts a JupyterLab with the executed notebook (figures.ipynb), a trusted copy (trusted.ipynb), and one that
// has not been executed (fresh.ipynb).
func lab(t *testing.T) *server {
	t.Helper()
	dir := venv(t)
	s := &server{root: t.TempDir(), env: os.Environ()}
	saved := filepath.Join(executed(t), "figures.ipynb")
	for name, from := range map[string]string{"figures.ipynb": saved, "trusted.ipynb": saved, "fresh.ipynb": "testdata/figures.ipynb"} {
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if name == "trusted.ipynb" { // trust goes by content
			text = bytes.Replace(text, []byte("A toy notebook"), []byte("A trusted toy notebook"), 1)
		}
		if err := os.WriteFile(filepath.Join(s.root, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// Settings, trust and running servers of whoever runs the tests stay out of it.
	for _, name := range []string{"JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"} {
		s.env = append(s.env, name+"="+t.TempDir())
	}
	trust := exec.Command(filepath.Join(dir, "bin", "jupyter"), "trust", filepath.Join(s.root, "trusted.ipynb"))
	trust.Env = s.env
	if out, err := trust.CombinedOutput(); err != nil {
		t.Fatalf("jupyter trust: %v\n%s", err, out)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	listener.Close()

	cmd := exec.Command(filepath.Join(dir, "bin", "jupyter-lab"), "--no-browser", "--allow-root",
		"--ip=127.0.0.1", fmt.Sprintf("--port=%d", port), "--ServerApp.port_retries=0", "--IdentityProvider.token="+token,
		"--ServerApp.root_dir="+s.root, "--LabApp.expose_app_in_browser=True",
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
			return s
		}
	}
	t.Fatalf("JupyterLab does not answer at %s", s.address)
	return nil
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

func (p *page) openLab(t *testing.T, s *server, notebook string) {
	t.Helper()
	p.do(t, "opening "+notebook+" in JupyterLab",
		chromedp.EmulateViewport(1400, 3000), // Lab draws only the cells in view
		chromedp.Navigate(s.address+"lab/tree/"+notebook+"?reset&token="+token))
	p.until(t, "!!document.querySelector('.jp-Notebook .jp-CodeCell')", true)
}

func TestLab(t *testing.T) {
	browser(t) // no need to start a server where there is none
	s := lab(t)

	t.Run("untrusted", func(t *testing.T) {
		p := browser(t)
		p.openLab(t, s, "figures.ipynb")
		p.see(t, ".revgnn-figure img", figures)
		p.see(t, ".revgnn-figure canvas", 0)
		p.quiet(t)
	})
	t.Run("trusted", func(t *testing.T) {
		p := browser(t)
		p.openLab(t, s, "trusted.ipynb")
		p.see(t, ".revgnn-figure[data-drawn=interactive] canvas", figures)
		p.quiet(t)
	})
	t.Run("executed here", func(t *testing.T) {
		p := browser(t)
		p.openLab(t, s, "fresh.ipynb")
		// Commands act on the active document, and ask questions before it has a kernel.
		p.until(t, `!!globalThis.jupyterapp && (() => {
			for (const w of jupyterapp.shell.widgets('main')) jupyterapp.shell.activateById(w.id);
			const context = jupyterapp.shell.currentWidget?.sessionContext;
			return context?.session?.kernel?.connectionStatus === 'connected';
		})()`, true)
		p.do(t, "running all cells", chromedp.Evaluate("void jupyterapp.commands.execute('notebook:run-all-cells')", nil))
		p.until(t, "!!document.querySelector('.jp-OutputArea progress')", true)
		p.see(t, ".revgnn-figure[data-drawn=interactive] canvas", figures)
		p.quiet(t)
	})
}
