package images_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const project = "revgnn-test"

// A hub is the JupyterHub of docker/compose.yml. address is where it answers, and env has its settings for the test.
type hub struct {
	address string
	env     []string
}

// compose runs docker/compose.yml by `docker compose` or by podman-compose. The environment variable COMPOSE says by
// which of the two.
func (h *hub) compose(t *testing.T, args ...string) string {
	t.Helper()
	line := append(strings.Fields(os.Getenv("COMPOSE")), "-f", "../compose.yml")
	cmd := exec.Command(line[0], append(line[1:], args...)...)
	cmd.Env = append(os.Environ(), h.env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("compose %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// start starts the hub with additional settings, and waits until it answers.
func (h *hub) start(t *testing.T, settings ...string) {
	t.Helper()
	h.env = append(h.env, settings...)
	h.compose(t, "up", "-d")
	until(t, "the hub answers", 2*time.Minute, func() bool {
		r, err := http.Get(h.address + "/hub/health")
		if err == nil {
			r.Body.Close()
		}
		return err == nil && r.StatusCode == http.StatusOK
	})
}

// container returns the ID of the hub's container.
func (h *hub) container(t *testing.T) string {
	t.Helper()
	return do(t, "ps", "-q", "--filter", "label=com.docker.compose.project="+project, "--filter", "label=com.docker.compose.service=hub")
}

// server returns the name of a person's container.
func server(name string) string { return project + "-" + name }

func newHub(t *testing.T) *hub {
	t.Helper()
	engine(t)
	if os.Getenv("COMPOSE") == "" {
		t.Skip("the hub is tested by `make test-hub`")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := listener.Addr().String()
	listener.Close()
	h := &hub{address: "http://" + at, env: []string{"PROJECT=" + project, "LISTEN=" + at, "MEMORY=2G", "CORES=1"}}
	clean := func() {
		for _, kind := range [][]string{{"ps", "-aq"}, {"network", "ls", "-q"}, {"volume", "ls", "-q"}} {
			found := do(t, append(kind, "--filter", "name="+project)...)
			for _, id := range strings.Fields(found) {
				if kind[0] == "ps" {
					_, _ = try(t, "rm", "-f", id)
				} else {
					_, _ = try(t, kind[0], "rm", "-f", id)
				}
			}
		}
	}
	clean()
	t.Cleanup(func() {
		if t.Failed() {
			out, _ := try(t, "logs", "--tail", "150", h.container(t))
			t.Logf("the hub said:\n%s", out)
		}
		clean()
	})
	return h
}

func TestHub(t *testing.T) {
	h := newHub(t)
	alice, bob := browser(t, "alice"), browser(t, "bob")
	both := []*person{alice, bob}
	h.start(t)

	t.Run("logging in", func(t *testing.T) {
		first := regexp.MustCompile("First login: admin, with the one-time password ([A-Za-z0-9_-]+)")
		found := first.FindStringSubmatch(do(t, "logs", h.container(t)))
		if found == nil {
			t.Fatal("the log has no one-time password for the administrator")
		}
		admin := browser(t, "admin")
		if at := admin.login(t, h.address, found[1]); at != "/hub/auth/change-password" {
			t.Errorf("the administrator comes to %s", at)
		}
		admin.picture(t, "administrator")
		for _, p := range both {
			once := do(t, "exec", h.container(t), "one-time-password", p.name)
			if at := p.login(t, h.address, "not "+once); at != "/hub/login" {
				t.Errorf("a wrong password leads to %s", at)
			}
			if at := p.login(t, h.address, once); at != "/hub/auth/change-password" {
				t.Errorf("a one-time password leads to %s", at)
			}
			if p == alice {
				// alice has not yet chosen a password of her own. So the hub must not start a server for her. Her
				// one-time password must not work a second time.
				alice.do(t, "asking for a server", chromedp.Navigate(h.address+"/hub/spawn"))
				alice.until(t, "document.body.textContent.includes('Choose a password of your own first')", time.Minute)
				if at := browser(t, "alice").login(t, h.address, once); at != "/hub/login" {
					t.Errorf("a one-time password serves twice: %s", at)
				}
				alice.do(t, "going back", chromedp.Navigate(h.address+"/hub/auth/change-password"))
			}
			p.password = p.name + " has a long password"
			p.do(t, "choosing a password", chromedp.SendKeys("#password_input", p.password, chromedp.ByQuery))
			p.picture(t, "choose-password")
			p.do(t, "choosing a password", chromedp.SendKeys("#password_input", kb.Enter, chromedp.ByQuery))
			p.until(t, "!!document.querySelector('.alert-success')", time.Minute)
		}
		nobody := browser(t, "carol")
		if at := nobody.login(t, h.address, "whatever it may be"); at != "/hub/login" {
			t.Errorf("who was given no password comes to %s", at)
		}
	})

	t.Run("the quickstart, both at once", func(t *testing.T) {
		// This file stands for a shared dataset, which people may read.
		do(t, "run", "--rm", "-v", project+"-datasets:/srv/datasets", "revgnn-lab", "sh", "-c", "echo shared > /srv/datasets/note")
		var workers sync.WaitGroup
		for _, p := range both {
			workers.Go(func() {
				start := time.Now()
				p.do(t, "asking for a server", chromedp.Navigate(h.address+"/hub/spawn"))
				p.until(t, "location.pathname.startsWith('/user/') && !!document.querySelector('#jp-main-dock-panel')", 4*time.Minute)
				t.Logf("%s: JupyterLab after %.0f s", p.name, time.Since(start).Seconds())
				p.picture(t, "lab")
				put(t, p, "small.ipynb", quickstart(t))
				p.open(t, h.address, "small.ipynb")
				start = time.Now()
				p.runAll(t)
				p.until(t, "!!document.querySelector('.revgnn-figure')", 5*time.Minute)
				t.Logf("%s: the first figure after %.0f s", p.name, time.Since(start).Seconds())
				p.until(t, done, 15*time.Minute)
				t.Logf("%s: all cells after %.0f s", p.name, time.Since(start).Seconds())
				p.picture(t, "quickstart")
			})
		}
		workers.Wait()
	})
	if t.Failed() {
		return // what follows needs both servers
	}

	t.Run("what people cannot do", func(t *testing.T) { separate(t, h, alice, bob) })
	t.Run("memory", func(t *testing.T) { memory(t, h, alice) })
	t.Run("the stop button", func(t *testing.T) { stop(t, h, alice) })
	t.Run("shared records", func(t *testing.T) { shared(t) })
	t.Run("restart and culling keep homes", func(t *testing.T) {
		do(t, "exec", server("alice"), "sh", "-c", "echo mine > ~/kept")
		// Both people leave their pages, and lose their sessions. So after the restart they can come in only by their
		// passwords.
		for _, p := range []*person{alice, bob} {
			p.do(t, "leaving", chromedp.Navigate("about:blank"), network.ClearBrowserCookies())
		}
		h.compose(t, "down")
		h.start(t, "IDLE_SECONDS=20")
		if at := bob.login(t, h.address, bob.password); !strings.HasPrefix(at, "/hub/spawn-pending/") && !strings.HasPrefix(at, "/user/bob") {
			t.Errorf("after a restart of the hub, bob comes to %s", at)
		}
		alice.login(t, h.address, alice.password)
		alice.until(t, "location.pathname.startsWith('/user/')", 4*time.Minute)
		if kept := do(t, "exec", server("alice"), "sh", "-c", "cat ~/kept"); kept != "mine" {
			t.Errorf("after a restart of the hub the home has %q", kept)
		}
		alice.do(t, "closing the page", chromedp.Navigate("about:blank"))
		until(t, "an idle server is ended", 4*time.Minute, func() bool {
			_, err := try(t, "inspect", server("alice"))
			return err != nil
		})
		alice.do(t, "asking for a server", chromedp.Navigate(h.address+"/hub/spawn"))
		alice.until(t, "location.pathname.startsWith('/user/')", 4*time.Minute)
		if kept := do(t, "exec", server("alice"), "sh", "-c", "cat ~/kept"); kept != "mine" {
			t.Errorf("after its server was ended for idling the home has %q", kept)
		}
	})
}

// separate tries what the hub must forbid, and checks that it fails. Above all, one person must not reach the files and
// the server of another person.
func separate(t *testing.T, h *hub, alice, bob *person) {
	do(t, "exec", server("bob"), "sh", "-c", "echo private > ~/private")
	var all []struct {
		NetworkSettings struct {
			Networks map[string]struct{ IPAddress string }
		}
	}
	if err := json.Unmarshal([]byte(do(t, "inspect", server("bob"))), &all); err != nil {
		t.Fatal(err)
	}
	address := ""
	for _, n := range all[0].NetworkSettings.Networks {
		address = n.IPAddress
	}
	// First, directly over the network: alice's container must not reach bob's server. Bob's own container must reach
	// it. This shows that the attempt would work if it were not forbidden.
	const attempt = `import socket, sys; socket.create_connection((sys.argv[1], 8888), 5); print("reached")`
	if out, err := try(t, "exec", server("bob"), "python3", "-c", attempt, address); err != nil {
		t.Errorf("bob's server does not answer at %s: %s", address, out)
	}
	if out, err := try(t, "exec", server("alice"), "python3", "-c", attempt, address); err == nil {
		t.Errorf("alice reaches bob's server at %s: %s", address, out)
	}
	for what, script := range map[string]string{
		"bob's files":            "find / -name private -type f 2>/dev/null | grep .",
		"writing to datasets":    "echo changed > /srv/datasets/note",
		"adding to datasets":     "touch /srv/datasets/more",
		"writing to records":     "touch /srv/records/more",
		"the engine's socket":    "test -e /var/run/docker.sock",
		"becoming root":          "setpriv --reuid 0 id",
		"the network beyond":     `python3 -c 'import socket; socket.create_connection(("1.1.1.1", 53), 3)'`,
		"the hub's own database": "ls /srv/jupyterhub",
	} {
		if out, err := try(t, "exec", server("alice"), "sh", "-c", script); err == nil {
			t.Errorf("alice can: %s: %s", what, out)
		}
	}
	if out := do(t, "exec", server("alice"), "cat", "/srv/datasets/note"); out != "shared" {
		t.Errorf("the shared dataset is %q", out)
	}
	if out := do(t, "exec", server("alice"), "sh", "-c", "cat /proc/[0-9]*/status | grep ^Uid | sort -u"); strings.Contains(out, "\t0") {
		t.Errorf("alice's server has processes of root's: %s", out)
	}
	if out := do(t, "exec", h.container(t), "sh", "-c", "cat /proc/[0-9]*/status | grep ^Uid | sort -u"); strings.Contains(out, "\t0") {
		t.Errorf("the hub has processes of root's: %s", out)
	}
	// Now, through the hub: neither alice's session nor a forged token may give access to bob's server.
	for _, path := range []string{"/user/bob/api/kernels", "/user/bob/api/contents/private", "/user/bob/lab"} {
		var got string
		alice.do(t, "asking for "+path, chromedp.Evaluate(fmt.Sprintf("fetch(%q).then(r => r.status + ' ' + r.url)", path), &got,
			func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }))
		if !strings.HasPrefix(got, "403 ") {
			t.Errorf("alice's browser asks for %s and gets %s", path, got)
		}
	}
	for _, path := range []string{"/user/bob/api/kernels", "/hub/api/users", "/hub/api/users/bob"} {
		r, _ := http.NewRequest(http.MethodGet, h.address+path, nil)
		r.Header.Set("Authorization", "token 0123456789abcdef0123456789abcdef")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusForbidden {
			t.Errorf("a forged token gets %s: %s", path, answer.Status)
		}
	}
	token := do(t, "exec", server("alice"), "sh", "-c", "echo $JUPYTERHUB_API_TOKEN")
	r, _ := http.NewRequest(http.MethodGet, h.address+"/user/bob/api/kernels", nil)
	r.Header.Set("Authorization", "token "+token)
	if answer, err := http.DefaultClient.Do(r); err != nil || answer.StatusCode != http.StatusForbidden {
		t.Errorf("the token of alice's server gets bob's kernels: %v, %v", answer, err)
	}
	// A forged session.
	jar, _ := cookiejar.New(nil)
	at, _ := url.Parse(h.address + "/hub/")
	jar.SetCookies(at, []*http.Cookie{{Name: "jupyterhub-hub-login", Value: "2|1:0|10:1700000000|20:forged", Path: "/hub/"}})
	client := http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if answer, err := client.Get(h.address + "/hub/home"); err != nil || !strings.Contains(answer.Header.Get("Location"), "/hub/login") {
		t.Errorf("a forged session: %v, %v", answer, err)
	}
}

// memory runs a cell that takes 8 GiB of memory, in a container that may use 2 GiB. The cell must end with an
// explanation, and the kernel must survive.
func memory(t *testing.T, h *hub, p *person) {
	put(t, p, "memory.ipynb", notebook("%%\nvar all [][]byte\nfor range 8 * 64 {\n\tb := make([]byte, 16<<20)\n\tfor i := range b {\n\t\tb[i] = 1\n\t}\n"+
		"\tall = append(all, b)\n}\nfmt.Println(len(all))", "%%\nfmt.Println(\"the kernel is\", \"still there\")"))
	p.open(t, h.address, "memory.ipynb")
	before := do(t, "inspect", "--format", "{{.State.StartedAt}}", server(p.name))
	p.runAll(t)
	p.until(t, "document.querySelector('.jp-Notebook').textContent.includes('it needed more memory than the 2.0 GiB')", 3*time.Minute)
	p.picture(t, "memory")
	p.click(t, ".jp-CodeCell .jp-InputArea-editor .cm-line", "still")
	p.do(t, "running the cell", chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(input.ModifierCtrl)))
	p.until(t, "[...document.querySelectorAll('.jp-OutputArea-output')].some(o => o.textContent.includes('the kernel is still there'))", time.Minute)
	if after := do(t, "inspect", "--format", "{{.State.StartedAt}}", server(p.name)); after != before {
		t.Errorf("the server was started again: %s, %s", before, after)
	}
}

// stop presses the stop button of JupyterLab while a cell trains a network. The training must end within two seconds.
func stop(t *testing.T, h *hub, p *person) {
	put(t, p, "training.ipynb", notebook(`import (
	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/report/nb"
	"github.com/revgnn/revgnn/pkg/report/nb/live"
	"github.com/revgnn/revgnn/pkg/train"
)

%%
eng := nb.Must(engine.Open(""))
g := nb.Must(datasets.Minesweeper{Rows: 50, Cols: 50, Mines: 0.2, Unknown: 0.5, Seed: 1}.Graph())
c := train.Default("gcn+rep")
c.Forward, c.Reverse, c.Hidden, c.Epochs = 1, 16, 32, 100000
live.Fit("long", eng, g, 0, c)`))
	p.open(t, h.address, "training.ipynb")
	p.runAll(t)
	p.until(t, "!!document.querySelector('.jp-OutputArea progress') && /epoch/.test(document.querySelector('.jp-OutputArea').textContent)", 5*time.Minute)
	p.picture(t, "training")
	p.click(t, "[data-command='notebook:interrupt-kernel'], jp-button[data-command='notebook:interrupt-kernel'], "+
		"[title^='Interrupt the kernel']", "")
	took := p.until(t, idle, time.Minute)
	t.Logf("the training ended %.1f s after the stop button", took.Seconds())
	if took > 2*time.Second {
		t.Errorf("it took %.1f s, want at most 2", took.Seconds())
	}
	if out, err := try(t, "exec", server(p.name), "sh", "-c", "ls -l /proc/[0-9]*/exe 2>/dev/null | grep gonb_"); err == nil {
		t.Errorf("the training goes on: %s", out)
	}
}

// shared adds run records to those that the group shares. It checks that another person can read them, and that not
// even the person who added them can change them.
func shared(t *testing.T) {
	do(t, "exec", server("alice"), "sh", "-c", "revgnn invert --runs /tmp/r.sqlite --dataset minesweeper-generated --model gcn+rep --depth 2 && "+
		"revgnn runs export --runs /tmp/r.sqlite /tmp/r.jsonl")
	if out := do(t, "exec", server("alice"), "share-runs", "/tmp/r.jsonl"); !strings.Contains(out, "1 records were added, 0 were there already") {
		t.Errorf("sharing: %s", out)
	}
	if out, err := try(t, "exec", server("bob"), "share-runs", "/tmp/none.jsonl"); err == nil || !strings.Contains(out, "No such file") {
		t.Errorf("sharing no file: %v: %s", err, out)
	}
	if out := do(t, "exec", server("bob"), "sh", "-c", "revgnn runs import --runs /tmp/r.sqlite /srv/records/alice/*.jsonl"); !strings.Contains(out, "added") {
		t.Errorf("taking shared records: %s", out)
	}
	for _, script := range []string{"rm /srv/records/alice/*.jsonl", "echo >> /srv/records/alice/*.jsonl", "touch /srv/records/alice/x",
		"JUPYTERHUB_API_TOKEN=forged share-runs /tmp/r.jsonl"} {
		if out, err := try(t, "exec", server("alice"), "sh", "-c", script); err == nil {
			t.Errorf("alice can: %s: %s", script, out)
		}
	}
}

// put writes a notebook into a person's home.
func put(t *testing.T, p *person, name, text string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	do(t, "cp", file, server(p.name)+":/home/revgnn/notebooks/"+name)
}

// notebook returns the text of a notebook file with the given code cells.
func notebook(cells ...string) string {
	type cell struct {
		CellType string         `json:"cell_type"`
		ID       string         `json:"id"`
		Metadata map[string]any `json:"metadata"`
		Source   string         `json:"source"`
		Outputs  []any          `json:"outputs"`
		Count    *int           `json:"execution_count"`
	}
	all := []cell{}
	for i, source := range cells {
		all = append(all, cell{"code", fmt.Sprint("cell-", i), map[string]any{}, source, []any{}, nil})
	}
	text, _ := json.Marshal(map[string]any{"cells": all, "nbformat": 4, "nbformat_minor": 5, "metadata": map[string]any{
		"kernelspec": map[string]any{"name": "revgnn", "display_name": "Go (revgnn)", "language": "go"}}})
	return string(text)
}

// quickstart returns the notebook quickstart.ipynb without outputs, with a smaller board and fewer epochs. Its steps
// stay the same. Two people can run this notebook at the same time on a busy machine with two cores, within minutes.
func quickstart(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../notebooks/quickstart.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	var n struct {
		Cells []struct {
			CellType string `json:"cell_type"`
			Source   any    `json:"source"`
		} `json:"cells"`
	}
	if err := json.Unmarshal(text, &n); err != nil {
		t.Fatal(err)
	}
	var cells []string
	for _, c := range n.Cells {
		if c.CellType != "code" {
			continue
		}
		source := fmt.Sprint(c.Source)
		if lines, ok := c.Source.([]any); ok {
			source = ""
			for _, line := range lines {
				source += fmt.Sprint(line)
			}
		}
		source = strings.Replace(source, "Side: 100, Corner: 36, Epochs: 300", "Side: 40, Corner: 36, Epochs: 20", 1)
		cells = append(cells, source)
	}
	small := notebook(cells...)
	if !strings.Contains(small, "Side: 40") {
		t.Fatal("the quickstart does not say its size as this test expects, and would not be small")
	}
	return small
}

// done is a JavaScript expression. It is true once all cells of the small quickstart have run.
const done = `document.querySelectorAll('.revgnn-figure').length >= 4 && ` + idle
