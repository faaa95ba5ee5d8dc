package images_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// sums returns the SHA-256 checksum of each file in a folder. The keys are the paths of the files within the folder.
func sums(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[name] = fmt.Sprintf("%x", sha256.Sum256(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// owners returns who owns the files in a folder. The keys are owners as "user:group", and the values are numbers of
// files and folders.
func owners(t *testing.T, dir string) map[string]int {
	t.Helper()
	all := map[string]int{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			stat := info.Sys().(*syscall.Stat_t)
			all[fmt.Sprintf("%d:%d", stat.Uid, stat.Gid)]++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestPaper lets a container without a network draw all tables and figures of the paper. It compares the files with
// those that the command revgnn of this checkout draws. It does so three times: with an output folder of root, with an
// output folder of another user, and with a container that runs as another user.
func TestPaper(t *testing.T) {
	engine(t)
	want := t.TempDir()
	here := exec.Command("../../bin/revgnn", "reproduce", "all", "--offline", "--runs", filepath.Join(want, "runs.sqlite"),
		"--out", filepath.Join(want, "paper"))
	if out, err := here.CombinedOutput(); err != nil {
		t.Fatalf("reproduce all: %v\n%s", err, out)
	}
	for _, c := range []struct {
		name, owner string
		uid         int
		options     []string
	}{
		{"the folder's owner is root", "0:0", 0, nil},
		{"the folder's owner is another", "4321:4322", 4321, nil},
		{"with --user", "4321:4322", 4321, []string{"--user", "4321:4322"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := t.TempDir()
			if c.uid != 0 {
				if err := os.Chown(out, 4321, 4322); err != nil {
					t.Skip("only root can make a folder of somebody else's: ", err)
				}
			}
			start := time.Now()
			args := append([]string{"run", "--rm", "--network", "none", "-v", out + ":/out"}, c.options...)
			said := do(t, append(args, "revgnn-paper")...)
			t.Logf("%.1f s: %s", time.Since(start).Seconds(), said)
			got := sums(t, filepath.Join(out, "paper"))
			for name, sum := range sums(t, filepath.Join(want, "paper")) {
				if got[name] != sum {
					t.Errorf("%s is not what this checkout renders", name)
				}
				delete(got, name)
			}
			if len(got) > 0 {
				t.Errorf("it has more than this checkout renders: %v", got)
			}
			if os.Getuid() == 0 {
				if who := owners(t, filepath.Join(out, "paper")); len(who) != 1 || who[c.owner] == 0 {
					t.Errorf("files belong to %v, want %s", who, c.owner)
				}
			}
		})
	}
	t.Run("a folder that --user may not write to", func(t *testing.T) {
		said, err := try(t, "run", "--rm", "--network", "none", "--user", "4321:4322", "-v", t.TempDir()+":/out", "revgnn-paper")
		if err == nil || !strings.Contains(said, "may not write") {
			t.Errorf("%v: %s", err, said)
		}
	})
}

// TestLab starts the notebook server in a container without a network: once as the image's own user, and once as
// another user.
func TestLab(t *testing.T) {
	engine(t)
	for _, c := range []struct {
		name, id string
		options  []string
	}{
		{"as the image has it", "1000", nil},
		{"with --user", "4321", []string{"--user", "4321:4322"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := time.Now()
			args := append([]string{"run", "-d", "--network", "none"}, c.options...)
			id := do(t, append(args, "revgnn-lab")...)
			t.Cleanup(func() { do(t, "rm", "-f", id) })
			healthy := `import urllib.request as r; print(r.urlopen("http://127.0.0.1:8888/api").status)`
			until(t, "the server answers", 2*time.Minute, func() bool {
				out, err := try(t, "exec", id, "python3", "-c", healthy)
				return err == nil && out == "200"
			})
			t.Logf("the server answers after %.1f s", time.Since(start).Seconds())
			if who := do(t, "exec", id, "sh", "-c", "cat /proc/[0-9]*/status | grep ^Uid | sort -u"); strings.Count(who, "\n") > 0 ||
				!strings.Contains(who, c.id) {
				t.Errorf("processes run as %s, want all as %s", who, c.id)
			}
			// Measure how long the first cell and the first figure take in a new container.
			took := do(t, "exec", "-w", "/home/revgnn/notebooks", id, "python", "-c", firstCells)
			t.Log(took)
			var first, figure float64
			if _, err := fmt.Sscanf(took, "first cell %f s, first figure %f s", &first, &figure); err != nil || first > 15 {
				t.Errorf("the first cell took %.1f s, want less than 15 s (%v)", first, err)
			}
		})
	}
	t.Run("a table", func(t *testing.T) {
		do(t, "run", "--rm", "--network", "none", "revgnn-lab", "jupyter", "execute", "table5.ipynb", "--inplace")
	})
}

// firstCells is a Python script. It runs two cells in a new kernel. It prints how long the first cell took, and after
// how many seconds the figure of the second cell was there.
const firstCells = `
import time, jupyter_client
manager, client = jupyter_client.manager.start_new_kernel(kernel_name="revgnn")
def run(code):
    start = time.time()
    seen = []
    reply = client.execute_interactive(code, timeout=300, output_hook=seen.append)
    said = [m["content"] for m in seen if m["msg_type"] in ("stream", "error", "display_data")]
    assert reply["content"]["status"] == "ok", said
    return time.time() - start, str(said)
first, said = run('import "github.com/revgnn/revgnn/pkg/engine"\n%%\nfmt.Println(engine.Open(""))')
assert "xla:cpu" in said, said
figure, said = run('''
import ("github.com/revgnn/revgnn/pkg/report"; "github.com/revgnn/revgnn/pkg/report/nb")
%%
nb.Show(report.Curves("x", "x", "x", "y", []report.Series{{Name: "a", X: []float64{1, 2}, Y: []float64{1, 2}}}, report.Axes{}))''')
assert "revgnn-figure" in said, said
print("first cell %.1f s, first figure %.1f s" % (first, first + figure))
manager.shutdown_kernel(now=True)
`
