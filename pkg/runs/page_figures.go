package runs

import (
	"fmt"
	"math"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/train"
)

// numbersOf returns values times a factor.
func numbersOf(values []train.Number, by float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = by * float64(v)
	}
	return out
}

func epochs(c train.Curves) []float64 {
	x := make([]float64, len(c.Epochs))
	for i, e := range c.Epochs {
		x[i] = float64(e)
	}
	return x
}

// curves draws the loss, and the metric on validation and test nodes, over epochs.
func (t training) curves(c train.Curves) report.Item {
	x, m := epochs(c), t.metric()
	factor, unit := m.Scale()
	metrics := []report.Series{{Name: "validation", X: x, Y: numbersOf(c.Val, factor)}}
	if len(c.Test) > 0 {
		metrics = append(metrics,
			report.Series{Name: "test (nothing is chosen by it)", X: x, Y: numbersOf(c.Test, factor)})
	}
	if t.BestEpoch > 0 {
		metrics = append(metrics, report.Series{Name: "best epoch", Style: report.Points,
			X: []float64{float64(t.BestEpoch)}, Y: []float64{factor * float64(t.Val)}})
	}
	return report.Plots("run-curves", "Loss and "+m.Title+" over epochs",
		report.Plot{Title: "Training loss", XName: "epoch", YName: "loss",
			Series: []report.Series{{Name: "training loss", X: x, Y: numbersOf(c.Loss, 1)}}},
		report.Plot{Title: "After each epoch", XName: "epoch", YName: m.Title + " [" + unit + "]", Series: metrics})
}

// sweepCurves draws the loss and the validation metric over epochs, a line for each training that has recorded them.
func sweepCurves(all []training) report.Item {
	var losses, vals []report.Series
	m := all[0].metric()
	factor, unit := m.Scale()
	for _, t := range all {
		if t.Details == nil || len(t.Details.Curves.Epochs) == 0 {
			continue
		}
		c, name := t.Details.Curves, fmt.Sprintf("split %d, seed %d", t.Record.Split, t.Record.Seed)
		losses = append(losses, report.Series{Name: name, X: epochs(c), Y: numbersOf(c.Loss, 1)})
		vals = append(vals, report.Series{Name: name, X: epochs(c), Y: numbersOf(c.Val, factor)})
	}
	if len(losses) == 0 {
		return absent(noCurves)
	}
	metric := "validation " + m.Title
	return report.Plots("sweep-curves", "Loss and "+metric+" over epochs",
		report.Plot{Title: "Training loss", XName: "epoch", YName: "loss", Series: losses},
		report.Plot{Title: "After each epoch", XName: "epoch", YName: metric + " [" + unit + "]", Series: vals})
}

// solves draws the iterations per reverse layer, and the largest residual on a logarithmic axis, over epochs.
func (t training) solves(c train.Curves) []report.Item {
	x := epochs(c)
	plots := []report.Plot{{Title: "Iterations", XName: "epoch", YName: "iterations per reverse layer",
		Series: []report.Series{{Name: "solve", X: x, Y: numbersOf(c.Solve, 1)},
			{Name: "adjoint solve", X: x, Y: numbersOf(c.Adjoint, 1)}}}}
	residual, positive := numbersOf(c.Residual, 1), false
	for i, y := range residual {
		if !(y > 0) { // a logarithmic axis cannot show it
			residual[i] = math.NaN()
		}
		positive = positive || y > 0
	}
	if positive {
		series := []report.Series{{Name: "largest residual", X: x, Y: residual}}
		if tolerance := t.config.Tolerance; tolerance > 0 {
			series = append(series, report.Series{Name: "tolerance", Style: report.Fitted,
				X: []float64{x[0], x[len(x)-1]}, Y: []float64{tolerance, tolerance}})
		}
		plots = append(plots, report.Plot{Title: "Residual", XName: "epoch", YName: "residual",
			Series: series, Axes: report.Axes{LogY: true}})
	}
	return []report.Item{report.Plots("run-solves", "Iterations and residuals over epochs", plots...),
		report.Paragraph("A reverse layer is the inverse of a forward layer, found by iteration until the mean " +
			"absolute change is below the tolerance. A residual above it means that the iteration was ended by " +
			"--max-iterations.")}
}

// roc draws the ROC curve of the test nodes, or of the validation nodes if there are none.
func (t training) roc(d *train.Details) report.Item {
	// In records of earlier versions, the metric is always this area.
	test, val := t.Test, t.Val
	if m := t.Measures; m.Val != nil {
		test, val = m.Test[data.ROCAUC], m.Val[data.ROCAUC]
	}
	area := test
	if d.Judged != "test" {
		area = val
	}
	positive, negative := d.Classes[1], d.Classes[0]
	return report.Curves("run-roc", fmt.Sprintf("ROC curve of the %s nodes: an area of %.2f %%", d.Judged, 100*area),
		fmt.Sprintf("nodes of class %s taken for class %s [%%]", negative, positive),
		fmt.Sprintf("nodes of class %s found [%%]", positive),
		[]report.Series{{Name: t.Model, X: numbersOf(d.ROC.FalsePositive, 100), Y: numbersOf(d.ROC.TruePositive, 100)},
			{Name: "by chance", Style: report.Fitted, X: []float64{0, 100}, Y: []float64{0, 100}}},
		report.Axes{RangeY: [2]float64{0, 100}})
}

// calibration draws the reliability curve.
func calibration(d *train.Details) []report.Item {
	c := d.Calibration
	return []report.Item{report.Curves("run-calibration",
		fmt.Sprintf("Reliability of the %s nodes: an expected calibration error of %.2f %%", d.Judged, 100*c.Error),
		"probability of the likeliest class [%]", "nodes that are of it [%]",
		[]report.Series{{Name: "nodes by probability", Style: report.Marked, X: numbersOf(c.Confidence, 100),
			Y: numbersOf(c.Accuracy, 100)},
			{Name: "calibrated", Style: report.Fitted, X: []float64{0, 100}, Y: []float64{0, 100}}},
		report.Axes{RangeY: [2]float64{0, 100}}),
		report.Paragraph("Nodes are in ten bins of equal width by the probability of their likeliest class. A point " +
			"is the mean probability of a bin and the share of its nodes that are of that class. The expected " +
			"calibration error is the mean distance of the points from the line, weighted by nodes.")}
}

// smoothness draws measures of the states after layers ([train.Smoothness]), or says why not.
func (t training) smoothness() []report.Item {
	var forward, reverse []train.Smoothness
	if f := t.Traced; f != nil {
		for _, l := range f.Forward {
			forward = append(forward, train.Smoothness{Layer: l.Layer, GSL: l.GSL})
		}
		for _, l := range f.Reverse {
			reverse = append(reverse, train.Smoothness{Layer: l.Layer, GSL: l.GSL})
		}
	}
	if d := t.Details; d != nil {
		forward, reverse = d.Forward, d.Reverse
		if d.NoSmoothness != "" {
			return []report.Item{report.Paragraph("Not shown: " + d.NoSmoothness + ".")}
		}
	}
	if len(forward)+len(reverse) == 0 {
		return []report.Item{absent("the smoothness of the states by layer")}
	}
	var items []report.Item
	for _, m := range []struct {
		id, title, axis string
		of              func(train.Smoothness) *train.Number
	}{
		{"run-smoothness", "Similarity of the nodes' states after layers", "mean cosine similarity (GSL)",
			func(s train.Smoothness) *train.Number { return &s.GSL }},
		{"run-dirichlet", "Dirichlet energy after layers", "Dirichlet energy",
			func(s train.Smoothness) *train.Number { return s.Dirichlet }},
		{"run-mad", "Mean average distance of neighbours after layers", "MAD",
			func(s train.Smoothness) *train.Number { return s.MAD }},
		{"run-rank", "Effective rank after layers", "effective rank",
			func(s train.Smoothness) *train.Number { return s.EffectiveRank }},
	} {
		var series []report.Series
		for _, direction := range []struct {
			name   string
			states []train.Smoothness
		}{{"forward", forward}, {"reverse", reverse}} {
			s := report.Series{Name: direction.name, Style: report.Marked}
			for _, l := range direction.states {
				if v := m.of(l); v != nil {
					s.X, s.Y = append(s.X, float64(l.Layer)), append(s.Y, float64(*v))
				}
			}
			if len(s.X) > 1 { // else there are no layers; at most layer 0, the encoded features
				series = append(series, s)
			}
		}
		if len(series) > 0 {
			items = append(items, report.Curves(m.id, m.title, "layers", m.axis, series))
		}
	}
	if len(items) == 0 {
		return []report.Item{report.Paragraph("Not shown: the model has no layers.")}
	}
	return append(items, report.Paragraph("States are those of the best epoch; layer 0 is the encoded input. A similarity "+
		"that goes to 1 with depth is over-smoothing: all nodes come to look alike. The Dirichlet energy and the mean "+
		"average distance of neighbours (MAD) go to 0 then, and the effective rank to 1."))
}
