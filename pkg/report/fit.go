package report

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
)

// Fit is the least-squares line y = Intercept + Slope x through some points.
type Fit struct {
	Slope, Intercept float64
	R2               float64 // the share of the variance of y that the line explains

	from, to float64
	positive bool // whether all y are above zero
}

// FitLine fits a line by least squares; two points at least must differ in x.
func FitLine(x, y []float64) (Fit, error) {
	if len(x) != len(y) || len(x) < 2 {
		return Fit{}, fmt.Errorf("report: a line can't be fitted to %d values of x and %d of y: "+
			"give at least two points", len(x), len(y))
	}
	f := Fit{from: math.Inf(1), to: math.Inf(-1), positive: true}
	for i := range x {
		if significant(x[i], 3) == nil || significant(y[i], 3) == nil {
			return Fit{}, fmt.Errorf("report: a line can't be fitted to the point (%g, %g): leave it out", x[i], y[i])
		}
		f.from, f.to = min(f.from, x[i]), max(f.to, x[i])
		f.positive = f.positive && y[i] > 0
	}
	if f.from == f.to {
		return Fit{}, fmt.Errorf("report: a line can't be fitted to points that all have x = %g", f.from)
	}
	f.Intercept, f.Slope = stat.LinearRegression(x, y, nil, false)
	f.R2 = stat.RSquared(x, y, nil, f.Intercept, f.Slope)
	return f, nil
}

// Series is the fitted line as a curve in the colour of the curve like. It has many points, since a line looks bent on
// logarithmic axes, and leaves out y ≤ 0 if all data are above.
func (f Fit) Series(name, like string) Series {
	s := Series{Name: name, Style: Fitted, Like: like}
	const steps = 64
	for i := range steps + 1 {
		share := float64(i) / steps
		x := f.from + share*(f.to-f.from)
		if f.from > 0 { // the points are evenly spaced on a logarithmic axis
			x = f.from * math.Pow(f.to/f.from, share)
		}
		if y := f.Intercept + f.Slope*x; y > 0 || !f.positive {
			s.X, s.Y = append(s.X, x), append(s.Y, y)
		}
	}
	return s
}

// Text is slope and R², as in "2.83 ms per layer (R² = 0.9998)"; unit is that of the slope.
func (f Fit) Text(unit string) string {
	r2 := fmt.Sprintf("= %.4f", f.R2)
	if f.R2 < 1 && r2 == "= 1.0000" {
		r2 = "> 0.9999"
	}
	return fmt.Sprintf("%.3g %s (R² %s)", f.Slope, unit, r2)
}
