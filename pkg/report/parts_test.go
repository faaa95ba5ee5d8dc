package report

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// TestUnpack compares the two forms that the values of a board have. ECharts needs triples (column, row, value). A web
// page receives only a list of the values, which is shorter, and makes the triples from the list. Both forms must have
// the same values in the same order.
func TestUnpack(t *testing.T) {
	b := someBoard(3, 5).chart.(*board)
	data := func(option map[string]any) any { return option["series"].([]any)[0].(map[string]any)["data"] }
	full := data(b.option()).([][3]any)
	packed, prepare := b.compact()
	flat := data(packed).([]any)
	if len(flat) != len(full) || prepare == "" {
		t.Fatalf("%d values are sent for %d cells, to be unpacked by %q", len(flat), len(full), prepare)
	}
	for i, v := range flat {
		if full[i] != [3]any{i % 5, i / 5, v} {
			t.Errorf("cell %d is %v in full and %v as sent", i, full[i], v)
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
		if low, high := bounds([]Strip{{Panels: []Panel{{Values: c.values}}}}); low != c.low || high != c.high {
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

func TestFitLine(t *testing.T) {
	f, err := FitLine([]float64{0, 1, 2}, []float64{1, 3, 5})
	if err != nil || math.Abs(f.Slope-2) > 1e-12 || math.Abs(f.Intercept-1) > 1e-12 || math.Abs(f.R2-1) > 1e-12 {
		t.Errorf("y = 1 + 2 x is fitted as %+v (%v)", f, err)
	}
	// The expected values are computed by hand. The fitted line is y = 2/3 + x/2. The squares of its residuals 1/3,
	// -2/3 and 1/3 add up to 2/3. The squares of the differences between the values of y and their mean add up to 7/6.
	// So R² is 1 - (2/3) / (7/6) = 3/7.
	if f, _ := FitLine([]float64{0, 1, 2}, []float64{1, 0.5, 2}); math.Abs(f.Slope-0.5) > 1e-12 ||
		math.Abs(f.R2-3.0/7) > 1e-12 {
		t.Errorf("slope %g and R² %g, want 1/2 and 3/7", f.Slope, f.R2)
	}
	if text := f.Text("s per layer"); text != "2 s per layer (R² = 1.0000)" {
		t.Errorf("the fit says %q", text)
	}
	for want, points := range map[string][2][]float64{
		"at least two":   {{1}, {1}},
		"all have x = 1": {{1, 1}, {1, 2}},
		"(2, NaN)":       {{1, 2}, {1, math.NaN()}},
	} {
		if _, err := FitLine(points[0], points[1]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error that says %q", err, want)
		}
	}
}

func TestChosen(t *testing.T) {
	for _, c := range []struct {
		frames, start int
		want          []int
	}{
		{1, 0, []int{0}},
		{7, 3, []int{0, 1, 2, 3, 4, 5, 6}},
		{33, 24, []int{0, 6, 12, 18, 24, 28, 32}},
		{13, 0, []int{0, 2, 4, 6, 8, 10, 12}},
		{13, 12, []int{0, 2, 4, 6, 8, 10, 12}},
		{257, 255, []int{0, 51, 102, 153, 204, 255, 256}},
		{257, 1, []int{0, 1, 52, 103, 154, 205, 256}},
	} {
		if got := (&slider{frames: make([]Frame, c.frames), start: c.start}).chosen(); !slices.Equal(got, c.want) {
			t.Errorf("of %d frames from %d, %v are chosen, want %v", c.frames, c.start, got, c.want)
		}
	}
}
