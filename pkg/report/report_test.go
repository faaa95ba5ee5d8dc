package report

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/report/echarts"
)

// needECharts skips where the library is not installed.
func needECharts(t *testing.T) {
	t.Helper()
	if _, err := echarts.Path(); err != nil {
		t.Skip(err)
	}
}

func someCurves() *Figure {
	x := []float64{1, 2, 3, 4}
	return Curves("losses", "Losses & gains", "epoch", "loss [nats]", []Series{
		{Name: "GCN", X: x, Y: []float64{1, 0.5, math.NaN(), 0.123456789}},
		{Name: "GCN+ReP", X: x, Y: []float64{1, 0.4, 0.3, 0.2}},
	})
}

func someBoard(rows, cols int) *Figure {
	values := make([]float64, rows*cols)
	for i := range values {
		values[i] = float64(i*7919%1000) / 999 // looks like noise, which packs badly
	}
	values[0] = math.NaN()
	return Board("board", "A board", "probability", rows, cols, []Panel{{"Truth", values}, {"Ours: 0.9", values}, {"Theirs", values}})
}

func TestOption(t *testing.T) {
	for _, f := range []*Figure{someCurves(), someBoard(3, 5)} {
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

// TestUnpack holds what a page is sent against the full option.
func TestUnpack(t *testing.T) {
	b := someBoard(3, 5).chart.(*board)
	full := series(b.option(), 0)["data"].([][3]any)
	packed, prepare := b.compact()
	flat := series(packed, 0)["data"].([]any)
	if len(flat) != len(full) || prepare == "" {
		t.Fatalf("%d values are sent for %d cells, to be unpacked by %q", len(flat), len(full), prepare)
	}
	for i, v := range flat {
		if full[i] != [3]any{i % 5, i / 5, v} {
			t.Errorf("cell %d is %v in full and %v as sent", i, full[i], v)
		}
	}
}

func TestSVG(t *testing.T) {
	needECharts(t)
	for _, f := range []*Figure{someCurves(), someBoard(3, 5)} {
		svg, err := f.SVG()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := f.SVG(); err != nil || again != svg {
			t.Errorf("%s: the second picture differs from the first (%v)", f.ID, err)
		}
		words := texts(t, svg)
		for _, want := range map[string][]string{
			"losses": {"Losses & gains", "GCN", "GCN+ReP", "epoch", "loss [nats]"},
			"board":  {"A board", "Truth", "Ours: 0.9", "Theirs", "row", "column"},
		}[f.ID] {
			if !strings.Contains(words, want+"\n") {
				t.Errorf("%s: the picture does not say %q, but:\n%s", f.ID, want, words)
			}
		}
	}
}

// texts lists what an SVG says, a line each; it fails for what is no XML.
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
	for _, want := range []string{`id="losses"`, `alt="Losses &amp; gains. `, `src="data:image/svg+xml,%3Csvg `, KernelFile, echarts.Integrity()} {
		if !strings.Contains(html, want) {
			t.Errorf("no %s in:\n%.600s", want, html)
		}
	}
	if strings.Count(html, "</script>") != 1 {
		t.Error("data can end the script early")
	}
}

// TestSize bounds what a large figure adds to a saved notebook.
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
		"one Y for each X":    Curves("a", "", "x", "y", []Series{{"s", two, two[:1]}}),
		"linear axis":         Curves("a", "", "x", "y", []Series{{"s", two, []float64{1, 0}}}, Axes{LogY: true}),
		"fixed name":          Curves("", "", "x", "y", []Series{{"s", two, two}}),
		"at least one row":    Board("a", "", "v", 0, 2, []Panel{{"p", nil}}),
		"at least one Panel":  Board("a", "", "v", 1, 2, nil),
		"one for each cell":   Board("a", "", "v", 2, 2, []Panel{{"p", two}}),
	} {
		for method, call := range map[string]func() error{
			"Option": func() error { _, err := f.Option(); return err },
			"SVG":    func() error { _, err := f.SVG(); return err },
			"HTML":   func() error { _, err := f.HTML(); return err },
		} {
			if err := call(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want an error that says %q", method, err, want)
			}
		}
	}
}

func TestBounds(t *testing.T) {
	for _, c := range []struct {
		values    []float64
		low, high float64
	}{
		{[]float64{0.2, 0.4}, 0, 1},
		{[]float64{math.NaN(), math.Inf(1)}, 0, 1},
		{[]float64{-1, 0.5, math.NaN()}, -1, 0.5},
		{[]float64{3, 9}, 3, 9},
		{[]float64{5, 5}, 5, 6},
	} {
		if low, high := bounds([]Panel{{"p", c.values}}); low != c.low || high != c.high {
			t.Errorf("bounds(%v) = %g, %g, want %g, %g", c.values, low, high, c.low, c.high)
		}
	}
}

func TestSignificant(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want any
	}{{0, 0.0}, {123.456, 123.0}, {-0.00123456, -0.00123}, {1e-320, 0.0}, {math.NaN(), nil}, {math.Inf(-1), nil}} {
		if got := significant(c.v, 3); got != c.want {
			t.Errorf("significant(%g, 3) = %v, want %v", c.v, got, c.want)
		}
	}
}
