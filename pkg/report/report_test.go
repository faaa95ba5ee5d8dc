package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/report/echarts"
)

// needECharts skips a test if the library ECharts is not installed.
func needECharts(t *testing.T) {
	t.Helper()
	if _, err := echarts.Path(); err != nil {
		t.Skip(err)
	}
}

func TestOption(t *testing.T) {
	for _, f := range []*Figure{someCurves(), someBoard(3, 5), somePlots(), someSlider()} {
		text, err := f.Option()
		if err != nil {
			t.Fatal(err)
		}
		var option struct {
			XAxis, YAxis []struct{ Name string }
			Series       []struct {
				Name string
				Data []any
			}
		}
		if err := json.Unmarshal(text, &option); err != nil {
			t.Fatalf("%s: %v", f.ID, err)
		}
		if option.XAxis[0].Name == "" || option.YAxis[0].Name == "" {
			t.Errorf("%s: an axis has no name: %s", f.ID, text)
		}
		for _, s := range option.Series {
			if s.Name == "" || len(s.Data) == 0 {
				t.Errorf("%s: a series has no name or no data: %s", f.ID, text)
			}
		}
	}
}

func TestSVG(t *testing.T) {
	needECharts(t)
	for _, f := range all() {
		svg, err := f.SVG()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := f.SVG(); err != nil || again != svg {
			t.Errorf("%s: the second picture differs from the first (%v)", f.ID, err)
		}
		if strings.Contains(svg, "NaN") {
			t.Errorf("%s: the picture has a place that is no number", f.ID)
		}
		words := texts(t, svg)
		for _, want := range map[string][]string{
			"losses": {"Losses & gains", "GCN", "GCN+ReP", "epoch", "loss [nats]"},
			"board":  {"A board", "Truth", "Ours: 0.9", "Theirs", "row", "column"},
			"plots": {"Depth", "Forward", "Reverse", "ours", "band", "paper", "points",
				"fit", "forward layers", "accuracy [%]", "reverse layers", "time [s]",
				"1", "4", "16", "64", "256", "1024", "10", "100", "1000"},
			"boards":   {"Layers", "GCN+ReP", "GCN", "reverse 1", "input", "forward 1"},
			"parallel": {"Trials", "lr", "norm", "none", "batch", "step", "ROC-AUC", "1e-5", "0.001"},
			"slider":   {"GCN+ReP", "GCN", "layer 0", "layer 4", "layer 8"},
		}[f.ID] {
			if !strings.Contains(words, want+"\n") {
				t.Errorf("%s: the picture does not say %q, but:\n%s", f.ID, want, words)
			}
		}
	}
}

func TestPNG(t *testing.T) {
	needECharts(t)
	for _, f := range all() {
		file, err := f.PNG(1.5)
		if err != nil {
			t.Fatal(err)
		}
		m, err := png.Decode(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if w, h := m.Bounds().Dx(), m.Bounds().Dy(); w != (3*f.Width+1)/2 || h != (3*f.Height+1)/2 {
			t.Errorf("%s: %d x %d pixels, want 1.5 times %d x %d", f.ID, w, h, f.Width, f.Height)
		}
		inked := 0
		for y := range m.Bounds().Dy() {
			for x := range m.Bounds().Dx() {
				if r, g, b, _ := m.At(x, y).RGBA(); r+g+b < 3*0xe000 {
					inked++
				}
			}
		}
		if share := float64(inked) / float64(m.Bounds().Dx()*m.Bounds().Dy()); share < 0.005 || share > 0.5 {
			t.Errorf("%s: %.2f %% of the picture are inked", f.ID, 100*share)
		}
	}
}

// texts returns the lines of text in an SVG picture. The test fails if the picture is not well-formed XML.
func texts(t *testing.T, svg string) string {
	t.Helper()
	var b strings.Builder
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return b.String()
		} else if err != nil {
			t.Fatalf("the picture is not XML: %v", err)
		}
		if data, ok := token.(xml.CharData); ok {
			b.WriteString(strings.TrimSpace(string(data)) + "\n")
		}
	}
}

func TestHTML(t *testing.T) {
	needECharts(t)
	html, err := someCurves().HTML()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`id="losses"`, `alt="Losses &amp; gains. `, `src="data:image/svg+xml,%3Csvg `,
		KernelFile, echarts.Integrity()} {
		if !strings.Contains(html, want) {
			t.Errorf("no %s in:\n%.600s", want, html)
		}
	}
	if strings.Count(html, "</script>") != 1 {
		t.Error("data can end the script early")
	}
}

// TestSize checks that a large figure does not add too much to the size of a saved notebook.
func TestSize(t *testing.T) {
	needECharts(t)
	html, err := someBoard(100, 100).HTML()
	if err != nil {
		t.Fatal(err)
	}
	if len(html) > 300_000 {
		t.Errorf("three maps of 10,000 cells take %d bytes, want at most 300,000", len(html))
	}
}

func TestMistakes(t *testing.T) {
	two := []float64{1, 2}
	for want, f := range map[string]*Figure{
		"at least one Series": Curves("a", "", "x", "y", nil),
		"one Y for each X":    Curves("a", "", "x", "y", []Series{{Name: "s", X: two, Y: two[:1]}}),
		"linear axis": Curves("a", "", "x", "y", []Series{{Name: "s", X: two, Y: []float64{1, 0}}},
			Axes{LogY: true}),
		"two curves are": Curves("a", "", "x", "y", []Series{{Name: "s"}, {Name: "s"}}),
		"no other curve": Curves("a", "", "x", "y", []Series{{Name: "s", Like: "t"}}),
		"1 of Spread":    Curves("a", "", "x", "y", []Series{{Name: "s", X: two, Y: two, Spread: two[:1]}}),
		"spread -1": Curves("a", "", "x", "y",
			[]Series{{Name: "s", X: two, Y: two, Spread: []float64{1, -1}}}),
		"RangeY": Curves("a", "", "x", "y", []Series{{Name: "s", X: two, Y: two}},
			Axes{RangeY: [2]float64{2, 1}}),
		"one to three":       Plots("a", ""),
		"mark at cell 2":     Board("a", "", "v", 1, 2, []Panel{{Title: "p", Values: two, Marks: []int{2}}}),
		"at least one Frame": Slider("a", "", "v", 1, 2, nil, 0),
		"frame 1 of 1":       Slider("a", "", "v", 1, 2, []Frame{{Panels: []Panel{{Values: two}}}}, 1),
		"has 0 panels":       Slider("a", "", "v", 1, 2, []Frame{{Panels: []Panel{{Values: two}}}, {}}, 0),
		"2 values for":       Slider("a", "", "v", 1, 3, []Frame{{Panels: []Panel{{Values: two}}}}, 0),
		"fixed name":         Curves("", "", "x", "y", []Series{{Name: "s", X: two, Y: two}}),
		"at least one row":   Board("a", "", "v", 0, 2, []Panel{{Title: "p"}}),
		"at least one Panel": Board("a", "", "v", 1, 2, nil),
		"one for each cell":  Board("a", "", "v", 2, 2, []Panel{{Title: "p", Values: two}}),
	} {
		for method, call := range map[string]func() error{
			"Option": func() error { _, err := f.Option(); return err },
			"SVG":    func() error { _, err := f.SVG(); return err },
			"HTML":   func() error { _, err := f.HTML(); return err },
			"PNG":    func() error { _, err := f.PNG(1); return err },
		} {
			if err := call(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want an error that says %q", method, err, want)
			}
		}
	}
}
