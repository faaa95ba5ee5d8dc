package report

import (
	"fmt"
	"math"
)

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
		values[i] = float64(i*7919%1000) / 999 // values that look random, so that they cannot be compressed much
	}
	values[0] = math.NaN()
	return Board("board", "A board", "probability", rows, cols, []Panel{{Title: "Truth", Values: values},
		{Title: "Ours: 0.9", Values: values}, {Title: "Theirs", Values: values}})
}

// somePlots returns a figure with every style of curve, and with every kind of axis.
func somePlots() *Figure {
	depth := []float64{1, 4, 16, 64, 256, 1024}
	ours := Series{Name: "ours", X: depth, Y: []float64{36, 38, math.NaN(), 41, 43, 45},
		Spread: []float64{1, 2, 3, math.NaN(), 50, 2}, Style: Marked}
	band := Series{Name: "band", X: depth, Y: []float64{38, 41, 42, 45, 46, 47},
		Spread: []float64{4, 3, 4, 3, 4, 4}, Band: true}
	paper := Series{Name: "paper", X: depth[:1], Y: []float64{47.57}, Style: Published, Like: "ours"}
	points := Series{Name: "points", X: depth, Y: depth, Style: Points}
	fit, err := FitLine(points.X, points.Y)
	if err != nil {
		panic(err)
	}
	return Plots("plots", "Depth",
		Plot{Title: "Forward", XName: "forward layers", YName: "accuracy [%]",
			Series: []Series{ours, band, paper}, Axes: Axes{Log2X: true}},
		Plot{Title: "Reverse", XName: "reverse layers", YName: "time [s]",
			Series: []Series{points, fit.Series("fit", "points"), ours}, Axes: Axes{LogX: true, LogY: true}})
}

func someBoards() *Figure {
	panel := func(title string) Panel { return Panel{title, []float64{0, 0.5, 1, math.NaN()}, []int{1, 2}} }
	return Boards("boards", "Layers", "probability (dots: mines)", 2, 2, []Strip{
		{"GCN+ReP", []Panel{panel("reverse 1"), panel("input"), panel("forward 1")}},
		{"GCN", []Panel{{}, panel("input"), panel("forward 1")}},
	})
}

func someSlider() *Figure {
	var frames []Frame
	for i := range 9 {
		v := float64(i) / 8
		values := []float64{v, 1 - v, 0.5, math.NaN(), 0, 1}
		frames = append(frames,
			Frame{fmt.Sprint("layer ", i), []Panel{{"GCN+ReP", values, []int{0}}, {"GCN", values, nil}}})
	}
	return Slider("slider", "Layers", "probability", 2, 3, frames, 4)
}

func someParallel() *Figure {
	return Parallel("parallel", "Trials", []ParallelAxis{{Name: "lr", Log: true},
		{Name: "norm", Categories: []string{"none", "batch"}}, {Name: "step"}, {Name: "ROC-AUC"}}, []ParallelLine{
		{"trial 0", []float64{1e-5, 0, math.NaN(), 0.9}, 0.2, false}, {"trial 1", []float64{0.1, 1, 0.5, 0.97}, 1, true},
		{"trial 2", []float64{0.001, math.NaN(), 8, 0.5}, math.NaN(), false}})
}

func all() []*Figure {
	return []*Figure{someCurves(), someBoard(3, 5), somePlots(), someBoards(), someSlider(), someParallel()}
}
