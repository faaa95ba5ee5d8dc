package nb

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/report"
)

// A Run is the result of one training, in numbers and text alone, so that a cell that shows it compiles without the
// engine and the trainer. Compare of package live makes runs.
type Run struct {
	// Base is the name of a run that this one is compared with, or "".
	Name, Base string
	// Numbers of layers.
	Forward, Reverse int
	// Val and Test are metrics from 0 to 1 with the weights after BestEpoch, the best on the validation nodes.
	Val, Test         float64
	Epochs, BestEpoch int
	Seconds           float64
	History           []Epoch
	// Probability of class 1 for each node; nil for more than two classes.
	Probability []float64
	// States after some numbers of layers; nil if not recorded.
	ForwardStates, ReverseStates []State
}

// Epoch has the training loss and the validation metric of an epoch, counted from 1.
type Epoch struct {
	Epoch     int
	Loss, Val float64
}

// State is the features of all nodes after Layer layers of one direction; layer 0 is the encoded input.
type State struct {
	Layer int
	// How alike features are; see package metrics.
	GSL, Dirichlet, MAD, EffectiveRank float64
	// Probability is what the head makes of this state alone, as in [Run].
	Probability []float64
}

// Runs are trainings on the same split of a graph, in the order in which they are shown.
type Runs struct {
	// Metric as in headings: "ROC-AUC" or "accuracy".
	Metric string
	Labels []int32
	Runs   []Run
}

func (rs Runs) find(name string) *Run {
	for i := range rs.Runs {
		if rs.Runs[i].Name == name {
			return &rs.Runs[i]
		}
	}
	return nil
}

// A Column of a table of runs: [ForwardLayers], [Validation], [Adds] and so on.
type Column struct {
	Heading func(Runs) report.Column
	Cell    func(Runs, Run) report.Cell
}

// These columns are variables. Columns such as [Test] are functions instead, since their number of decimals is an
// argument.
var (
	ForwardLayers = count("Layers", "forward", func(r Run) int { return r.Forward })
	ReverseLayers = count("Layers", "reverse", func(r Run) int { return r.Reverse })
	Epochs        = count("", "epochs", func(r Run) int { return r.Epochs })
	BestEpoch     = count("", "best epoch", func(r Run) int { return r.BestEpoch })
	Seconds       = Column{
		Heading: func(Runs) report.Column { return report.Column{Name: "seconds"} },
		Cell:    func(_ Runs, r Run) report.Cell { return report.Number(r.Seconds, 1) },
	}
)

func count(group, name string, of func(Run) int) Column {
	return Column{
		Heading: func(Runs) report.Column { return report.Column{Group: group, Name: name} },
		Cell:    func(_ Runs, r Run) report.Cell { return report.Count(of(r)) },
	}
}

// Validation is the metric on the validation nodes, in percent; the best is marked.
func Validation(decimals int) Column {
	return score("validation", decimals, func(r Run) float64 { return r.Val })
}

// Test is the metric on the test nodes, in percent; the best is marked.
func Test(decimals int) Column {
	return score("test", decimals, func(r Run) float64 { return r.Test })
}

func score(name string, decimals int, of func(Run) float64) Column {
	return Column{
		Heading: func(rs Runs) report.Column {
			return report.Column{Group: rs.Metric, Name: name, Unit: "%", Best: report.Highest}
		},
		Cell: func(_ Runs, r Run) report.Cell { return report.Number(100*of(r), decimals).Ranked() },
	}
}

// Adds is the test metric of a run less that of its Base, in percentage points; what names the cause in the heading.
func Adds(what string, decimals int) Column {
	return Column{
		Heading: func(rs Runs) report.Column {
			return report.Column{Group: rs.Metric, Name: fmt.Sprintf("test, %s adds", what), Unit: "percentage points"}
		},
		Cell: func(rs Runs, r Run) report.Cell {
			base := rs.find(r.Base)
			if base == nil {
				return report.Cell{}
			}
			return report.Difference(100*(r.Test-base.Test), decimals)
		},
	}
}

// Table compares the runs, a row each.
func (rs Runs) Table(id, title string, columns ...Column) *report.Table {
	t := &report.Table{ID: id, Title: title, Corner: "Network"}
	for _, c := range columns {
		t.Columns = append(t.Columns, c.Heading(rs))
	}
	for _, r := range rs.Runs {
		row := report.Row{Label: r.Name}
		for _, c := range columns {
			row.Cells = append(row.Cells, c.Cell(rs, r))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (rs Runs) Losses(id, title string) *report.Figure {
	return report.Curves(id, title, "epoch", "cross-entropy on training nodes (log scale)",
		rs.history(func(e Epoch) float64 { return e.Loss }), report.Axes{LogY: true})
}

// Scores draws the metric on the validation nodes over the epochs, in percent, without the low scores of first epochs.
func (rs Runs) Scores(id, title string) *report.Figure {
	least := 100.0
	for _, r := range rs.Runs {
		least = min(least, 100*r.Val)
	}
	return report.Curves(id, title, "epoch", fmt.Sprintf("%s on validation nodes [%%]", rs.Metric),
		rs.history(func(e Epoch) float64 { return 100 * e.Val }),
		report.Axes{RangeY: [2]float64{max(0, 10*math.Floor(least/10)-10), 100}})
}

func (rs Runs) history(of func(Epoch) float64) []report.Series {
	var all []report.Series
	for _, r := range rs.Runs {
		s := report.Series{Name: r.Name}
		for _, e := range r.History {
			s.X, s.Y = append(s.X, float64(e.Epoch)), append(s.Y, of(e))
		}
		all = append(all, s)
	}
	return all
}

// Measure is a measure of over-smoothing, its name on the axis and its value of a state.
type Measure struct {
	Name string
	Of   func(State) float64
	Log  bool
}

// GSL, Dirichlet, MAD and EffectiveRank are the measures of [metrics.Smoothness] in package metrics.
var (
	GSL           = Measure{"GSL", func(s State) float64 { return s.GSL }, false}
	Dirichlet     = Measure{"Dirichlet energy", func(s State) float64 { return s.Dirichlet }, true}
	MAD           = Measure{"MAD of neighbours", func(s State) float64 { return s.MAD }, false}
	EffectiveRank = Measure{"effective rank", func(s State) float64 { return s.EffectiveRank }, false}
)

// Smoothness draws a measure of over-smoothing, the GSL unless another is given, over the layers of both directions of
// each run with states. The axis of layers is logarithmic unless there is layer 0, the encoded input; that of a measure
// with Log, unless a value is 0, as in a graph without edges.
func (rs Runs) Smoothness(id, title string, of ...Measure) *report.Figure {
	measure := GSL
	if len(of) > 0 {
		measure = of[0]
	}
	var all []report.Series
	axes := report.Axes{Log2X: true, LogY: measure.Log}
	for _, r := range rs.Runs {
		for _, direction := range []struct {
			name   string
			states []State
		}{{"forward", r.ForwardStates}, {"reverse", r.ReverseStates}} {
			s := report.Series{Name: r.Name + ", " + direction.name, Style: report.Marked}
			for _, state := range direction.states {
				s.X, s.Y = append(s.X, float64(state.Layer)), append(s.Y, measure.Of(state))
				axes.Log2X = axes.Log2X && state.Layer > 0
				axes.LogY = axes.LogY && measure.Of(state) > 0
			}
			if len(s.X) > 0 {
				all = append(all, s)
			}
		}
	}
	name := measure.Name
	if axes.LogY {
		name += " (log scale)"
	}
	return report.Curves(id, title, "layers", name, all, axes)
}

// A Corner is the upper left part of a square board, whose cells are a graph's nodes, row by row. In a small corner
// single cells can be seen.
type Corner struct {
	Width int // the side of the whole board, in cells
	Side  int // the side of the corner, in cells; if it is larger than Width, the corner is the whole board
}

func (c Corner) side() int { return min(c.Side, c.Width) }

// Cut returns the values of the corner's cells, row by row, from those of all cells. It panics if there are fewer.
func (c Corner) Cut(values []float64) []float64 {
	if len(values) < c.Width*c.Width {
		Check(fmt.Errorf("nb: %d values for a board of %d x %d cells: give one for each cell, row by row",
			len(values), c.Width, c.Width))
	}
	var out []float64
	for row := range c.side() {
		out = append(out, values[row*c.Width:][:c.side()]...)
	}
	return out
}

// Board maps the corner of values of the whole board, under the title name.
func (c Corner) Board(id, title, valueName, name string, values []float64) *report.Figure {
	return report.Board(id, title, valueName, c.side(), c.side(), []report.Panel{{Title: name, Values: c.Cut(values)}})
}

// Boards maps labels and predictions on the corner: a row for each run without Base, with the runs that have it as
// Base. Darker cells have a higher probability of class 1, of two.
func (rs Runs) Boards(id, title, valueName string, c Corner) *report.Figure {
	truth := report.Panel{Title: "Truth", Values: c.Cut(floats(rs.Labels))}
	var strips []report.Strip
	for _, base := range rs.Runs {
		if base.Base != "" {
			continue
		}
		strip := report.Strip{Title: base.Name, Panels: []report.Panel{truth}}
		for _, r := range rs.Runs {
			if r.Name == base.Name || r.Base == base.Name {
				if r.Probability == nil {
					Check(fmt.Errorf("nb: run %q has no probability of class 1: Boards is for graphs of two classes", r.Name))
				}
				strip.Panels = append(strip.Panels, report.Panel{
					Title: fmt.Sprintf("%s: %.1f %%", r.Name, 100*r.Test), Values: c.Cut(r.Probability)})
			}
		}
		strips = append(strips, strip)
	}
	return report.Boards(id, title, valueName, c.side(), c.side(), strips)
}

func floats(labels []int32) []float64 {
	out := make([]float64, len(labels))
	for i, l := range labels {
		out[i] = float64(l)
	}
	return out
}

// Statistics returns a table with the statistics of a graph ([metrics.GraphStats]), and its notes.
func Statistics(id, title string, g *graphs.Graph) *report.Table {
	s, notes := metrics.GraphStats(g), slices.Clone(g.Notes)
	if s.Weighted {
		notes = append(notes, "Edges have weights.")
	}
	defined := func(homophily float64, undefined string) report.Cell {
		if math.IsNaN(homophily) {
			return report.Missing(undefined)
		}
		return report.Number(homophily, 2)
	}
	return &report.Table{ID: id, Title: title, Corner: "Nodes",
		Columns: []report.Column{{Name: "edges"}, {Name: "classes"}, {Name: "features"}, {Name: "average degree"},
			{Name: "edge homophily"}, {Name: "adjusted homophily"}, {Name: "splits"}},
		Rows: []report.Row{{Label: fmt.Sprint(s.Nodes), Cells: []report.Cell{
			report.Count(s.Edges), report.Count(s.Classes), report.Count(s.Features), report.Number(s.AverageDegree, 2),
			defined(s.EdgeHomophily, "no edge joins two labelled nodes"),
			defined(s.AdjustedHomophily, "no edges join labelled nodes, or all join nodes of one class"),
			report.Count(s.Splits)}}}, Notes: notes}
}

// Features returns a table of what the columns of a graph's table hold ([graphs.Graph.Table]).
func Features(id, title string, g *graphs.Graph) *report.Table {
	t := &report.Table{ID: id, Title: title, Corner: "Feature",
		Columns: []report.Column{{Name: "holds"}, {Name: "categories"}, {Name: "missing"}}}
	for i, s := range g.Table() {
		categories := report.Text("")
		if s.Kind == graphs.Categories {
			categories = report.Count(s.Categories)
		}
		t.Rows = append(t.Rows, report.Row{Label: cmp.Or(s.Name, fmt.Sprint(i)),
			Cells: []report.Cell{report.Text(s.Kind), categories, report.Count(s.Missing)}})
	}
	return t
}

// Balance returns a table of the nodes of each class, and of those in the parts of a split.
func Balance(id, title string, g *graphs.Graph, split int) *report.Table {
	t := &report.Table{ID: id, Title: title, Corner: "Class", Columns: []report.Column{{Name: "nodes"},
		{Name: "of the labelled", Unit: "%"}, {Name: "training"}, {Name: "validation"}, {Name: "test"}}}
	parts := make([][3]int, g.NumClasses)
	for i, class := range g.Labels {
		if class == graphs.Unlabelled {
			continue
		}
		s := g.Splits[split]
		for part, mask := range [][]bool{s.Train, s.Val, s.Test} {
			if mask[i] {
				parts[class][part]++
			}
		}
	}
	labelled := float64(max(1, g.Labelled()))
	for k, class := range metrics.ClassShares(g) {
		row := report.Row{Label: class.Class, Cells: []report.Cell{report.Count(class.Nodes),
			report.Number(100*float64(class.Nodes)/labelled, 1)}}
		for _, n := range parts[k] {
			row.Cells = append(row.Cells, report.Count(n))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func Degrees(id, title string, g *graphs.Graph) *report.Figure {
	nodes := map[int]int{}
	most := 0
	for _, degree := range g.Degrees() {
		nodes[degree]++
		most = max(most, degree)
	}
	s := report.Series{Name: "nodes", Style: report.Marked}
	for degree := range most + 1 {
		if n := nodes[degree]; n > 0 {
			s.X, s.Y = append(s.X, float64(degree)), append(s.Y, float64(n))
		}
	}
	return report.Curves(id, title, "degree", "nodes", []report.Series{s})
}
