package report

import (
	"fmt"
	"math"
	"slices"
)

// Series is one curve: the points (X[i], Y[i]) in order, with a gap where Y[i] is NaN or infinite.
type Series struct {
	Name string
	X, Y []float64

	// Spread, if not nil, has for each point half the length of its error bar, or NaN for none; with Band, a band
	// around the curve takes the place of the bars.
	Spread []float64
	Band   bool

	Style Style

	// Like, unless "", is another series of the panel whose colour this one has, such as published values beside ours.
	Like string
}

// Style is how the points of a [Series] are drawn.
type Style int

const (
	Line      Style = iota // a line
	Marked                 // a line with a mark at each point
	Points                 // marks without a line
	Published              // hollow marks without a line: values from a publication
	Fitted                 // a thin dashed line, for a fit or for comparison
)

// Axes are the scales of [Curves] or a [Plot]: linear if zero.
type Axes struct {
	LogX, LogY bool       // logarithmic, with ticks at powers of 10: all values must be above zero
	Log2X      bool       // logarithmic, with ticks at powers of 2 or 4 (1, 4, 16, ..., 1024), for numbers of layers
	RangeY     [2]float64 // smallest and largest Y shown; chosen automatically if both are zero
}

// Plot is a panel of [Plots]: a pair of axes with curves.
type Plot struct {
	Title        string
	XName, YName string // with their units, as in "time [s]"
	Series       []Series
	Axes         Axes
}

func (p Plot) check() error {
	if len(p.Series) == 0 {
		return fmt.Errorf("no curves to draw: give at least one Series")
	}
	var names []string
	for _, s := range p.Series {
		if slices.Contains(names, s.Name) {
			return fmt.Errorf("two curves are named %q: give each a name of its own", s.Name)
		}
		names = append(names, s.Name)
		if err := s.check(p.Axes); err != nil {
			return err
		}
	}
	if r := p.Axes.RangeY; r[0] > r[1] || p.Axes.LogY && r != [2]float64{} && r[0] <= 0 {
		return fmt.Errorf("RangeY is %g to %g: give the least value first, "+
			"and values above zero for a logarithmic axis", r[0], r[1])
	}
	return nil
}

func (s Series) check(axes Axes) error {
	if len(s.X) != len(s.Y) {
		return fmt.Errorf("curve %q has %d values of X and %d of Y: give one Y for each X", s.Name, len(s.X), len(s.Y))
	}
	if len(s.Spread) != 0 && len(s.Spread) != len(s.Y) {
		return fmt.Errorf("curve %q has %d values of Y and %d of Spread: give one for each, or none at all",
			s.Name, len(s.Y), len(s.Spread))
	}
	for i := range s.X {
		if (axes.LogX || axes.Log2X) && s.X[i] <= 0 || axes.LogY && s.Y[i] <= 0 {
			return fmt.Errorf("curve %q has the point (%g, %g), which a logarithmic axis can't show: "+
				"leave it out, or use a linear axis", s.Name, s.X[i], s.Y[i])
		}
		if len(s.Spread) > 0 && s.Spread[i] < 0 {
			return fmt.Errorf("curve %q has the spread %g: give one that is not negative, or NaN for none",
				s.Name, s.Spread[i])
		}
	}
	return nil
}

// base is that of the logarithm of the X axis, 0 for a linear axis. ECharts puts a tick at each power.
func (p Plot) base() int {
	switch {
	case p.Axes.LogX:
		return 10
	case !p.Axes.Log2X:
		return 0
	}
	low, high := math.Inf(1), 0.0
	for _, s := range p.Series {
		for _, x := range s.X {
			low, high = min(low, x), max(high, x)
		}
	}
	if high > 64*low { // a narrow panel has space for seven ticks only
		return 4
	}
	return 2
}
