package nb

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/gonb/gonbui/protocol"
)

func TestBar(t *testing.T) {
	var shown []string
	clock := time.Unix(0, 0)
	b := &Bar{start: clock, now: func() time.Time { return clock },
		show: func(fraction float64, text string, done bool) {
			shown = append(shown, fmt.Sprintf("%.2f %s %v", fraction, text, done))
		}}
	for i := range 100 {
		clock = clock.Add(10 * time.Millisecond)
		b.Update(float64(i)/100, fmt.Sprint(i))
	}
	b.Done("ready")
	// The 100 updates above take one second on the clock of this test. At most five updates per second are shown. The
	// text of Done is always shown.
	if len(shown) < 5 || len(shown) > 6 || shown[len(shown)-1] != "1.00 ready (1.0 s) true" {
		t.Errorf("shown: %q", shown)
	}
}

func TestBarText(t *testing.T) {
	html := page("a<b", 1.5, "x & y")
	for _, want := range []string{"a&lt;b", `value="1.000"`, "x &amp; y"} {
		if !strings.Contains(html, want) {
			t.Errorf("no %s in %s", want, html)
		}
	}
	var b strings.Builder
	line(&b, "train", 0.25, "epoch 1", false)
	line(&b, "train", 1, "ready", true)
	if got := b.String(); !strings.Contains(got, "train  25 %  epoch 1") || !strings.HasSuffix(got, "100 %  ready\n") {
		t.Errorf("on a terminal: %q", got)
	}
}

func TestState(t *testing.T) {
	t.Setenv(protocol.GONB_TMP_DIR_ENV, t.TempDir())
	Save("scores", map[string][]float64{"gcn": {0.5, 0.75}})
	if got := Load[map[string][]float64]("scores")["gcn"]; len(got) != 2 || got[1] != 0.75 {
		t.Errorf("loaded %v", got)
	}
	for name, load := range map[string]func(){
		"checksum is wrong": func() {
			Save("changed", 0.5)
			b, err := os.ReadFile(file("changed"))
			if err != nil {
				t.Fatal(err)
			}
			b[len(b)/3] ^= 1
			if err := os.WriteFile(file("changed"), b, 0o666); err != nil {
				t.Fatal(err)
			}
			Load[float64]("changed")
		},
		"run the cell": func() { Load[int]("never saved") },
		"gob":          func() { Load[int]("scores") },
	} {
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, name) {
					t.Errorf("panic %q, want one that says %q", said, name)
				}
			}()
			load()
		}()
	}
}

func TestFolded(t *testing.T) {
	item := Folded("2 <notes>", List{"a & b", "c"})
	html, err := item.HTML()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<details><summary", "2 &lt;notes&gt;</summary>", "a &amp; b</li>"} {
		if !strings.Contains(html, want) {
			t.Errorf("no %s in %s", want, html)
		}
	}
	if got := item.Text(); got != "2 <notes>\na & b\nc" {
		t.Errorf("text %q", got)
	}
}

// Files of a run go into a folder of their own.
func TestFresh(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, want := range []string{"run-1", "run-2"} {
		if got := Fresh("run"); got != want {
			t.Errorf("the folder is %s, want %s", got, want)
		}
	}
}
