package paper

import (
	"math"
	"testing"

	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// smoothing returns a made-up outcome of a training. The GSL of the state after a forward layer is the argument called
// forward. The GSL of the state after a reverse layer is the argument called reverse.
func smoothing(task runs.Task, forward, reverse float64) any {
	f := &runs.Traced{}
	for _, l := range task.Trace.Layers {
		if l <= task.Config.Forward {
			f.Forward = append(f.Forward, runs.Layer{Layer: l, GSL: train.Number(forward)})
		}
		if l <= task.Config.Reverse {
			f.Reverse = append(f.Reverse, runs.Layer{Layer: l, GSL: train.Number(reverse)})
		}
	}
	return runs.Trained{Result: train.Result{Status: train.OK}, Metric: "accuracy", Traced: f}
}

func TestVerdictsOfSmoothness(t *testing.T) {
	type gsl struct{ plain, forward, reverse float64 }
	for _, c := range []struct {
		id        string
		lipschitz float64
		layers    int
		gsl       gsl
		want      Verdict
	}{
		{"gsl-reverse/gcn+rep/squirrel-filtered", 0.1, 1024, gsl{reverse: 0.5}, Reproduced},
		{"gsl-reverse/gcn+rep/squirrel-filtered", 0.01, 1024, gsl{reverse: 0.5}, Weaker},
		{"gsl-reverse/gcn+rep/squirrel-filtered", 0.1, 512, gsl{reverse: 0.5}, Weaker},
		{"gsl-reverse/gcn+rep/squirrel-filtered", 0.1, 1024, gsl{reverse: 0.7}, NotReproduced},
		{"gsl-plain/gcn/chameleon-filtered/32-layers", 0.1, 1024, gsl{plain: 0.95}, Reproduced},
		{"gsl-plain/gcn/chameleon-filtered/32-layers", 0.1, 1024, gsl{plain: 0.7}, Weaker},
		{"gsl-plain/gcn/chameleon-filtered/16-layers", 0.1, 1024, gsl{plain: 0.5}, NotReproduced},
		{"gsl-forward/gcn+rep/chameleon-filtered", 0.1, 1024, gsl{plain: 0.9, forward: 0.5}, Reproduced},
		{"gsl-forward/gcn+rep/chameleon-filtered", 0.01, 1024, gsl{plain: 0.9, forward: 0.5}, Weaker},
		{"gsl-forward/gcn+rep/chameleon-filtered", 0.1, 1024, gsl{plain: 0.4, forward: 0.5}, NotReproduced},
	} {
		p := Quick()
		p.Smoothness.Models[0].Lipschitz, p.Smoothness.Models[0].Reverse = c.lipschitz, c.layers
		j := verdictOf(t, p, c.id, func(task runs.Task) any {
			if task.Config.HasReverse() {
				return smoothing(task, c.gsl.forward, c.gsl.reverse)
			}
			return smoothing(task, c.gsl.plain, 0)
		})
		if j.Verdict != c.want {
			t.Errorf("%s of %+v: %+v", c.id, c.gsl, j)
		}
	}
	j := verdictOf(t, Quick(), "gsl-forward/gcn+rep/chameleon-filtered", func(task runs.Task) any {
		// Here the GSL is 0.5 for models with 16 forward layers, and 0.9 for models with 32 or 64. GCN+ReP has 16
		// forward layers. The three plain models have 16, 32 and 64. The GSL of GCN+ReP is therefore smaller than the
		// GSL of two plain models, and equal to the GSL of the third.
		return smoothing(task, map[int]float64{16: 0.5, 32: 0.9, 64: 0.9}[task.Config.Forward], 0)
	})
	if j.Verdict != Weaker {
		t.Errorf("below some of the plain models: %+v", j)
	}
}

// spreading returns a made-up outcome of a training for figures 1 and 4. The model has two forward layers and two
// reverse layers. From the state after layer l, the head predicts 0.5 + x for half of the cells of a board, and 0.5 - x
// for the other half. In the forward process x is forward[l-1], and in the reverse process x is reverse[l-1].
func spreading(task runs.Task, forward, reverse [2]float64) any {
	f := &runs.Traced{}
	layer := func(l int, by float64) runs.Layer {
		out := runs.Layer{Layer: l}
		for range task.Trace.Boards {
			out.Boards = append(out.Boards, []float64{0.5 - by, 0.5 + by, 0.5 - by, 0.5 + by})
		}
		return out
	}
	for l, by := range forward {
		f.Forward = append(f.Forward, layer(l+1, by))
	}
	for l, by := range reverse {
		f.Reverse = append(f.Reverse, layer(l+1, by))
	}
	return runs.Trained{Result: train.Result{Status: train.OK}, Traced: f}
}

func TestVerdictsOfBoards(t *testing.T) {
	rises, creeps, falls := [2]float64{0.1, 0.3}, [2]float64{0.2, 0.21}, [2]float64{0.3, 0.1}
	sinks := [2]float64{0.21, 0.2}
	for _, c := range []struct {
		id               string
		forward, reverse [2]float64
		want             Verdict
	}{
		{"fig1-reverse/sage+rep", falls, rises, Reproduced},
		{"fig1-reverse/sage+rep", falls, creeps, Weaker},
		{"fig1-reverse/sage+rep", falls, falls, NotReproduced},
		{"fig1-forward/sage+rep", falls, rises, Reproduced},
		{"fig1-forward/sage+rep", sinks, rises, Weaker},
		{"fig1-forward/sage+rep", rises, rises, NotReproduced},
		{"fig1-plain/gcn", falls, rises, Reproduced},
		{"fig1-plain/gcn", rises, rises, NotReproduced},
		{"fig4/sage+rep", falls, rises, Reproduced},
		{"fig4/sage+rep", sinks, creeps, Weaker},
		{"fig4/sage+rep", rises, falls, NotReproduced},
	} {
		j := verdictOf(t, Quick(), c.id, func(task runs.Task) any {
			return spreading(task, c.forward, c.reverse)
		})
		if j.Verdict != c.want || len(j.Records) != 1 {
			t.Errorf("%s of %v and %v: %+v", c.id, c.forward, c.reverse, j)
		}
	}
}

func TestVerdictsOfInversions(t *testing.T) {
	for _, c := range []struct {
		id   string
		x    float64
		want Verdict
	}{
		{"inversion/gcn+rep/squirrel-filtered", 1e-6, Reproduced},
		{"inversion/gcn+rep/squirrel-filtered", 1e-4, Weaker},
		{"inversion/gcn+rep/squirrel-filtered", 1e-3, NotReproduced},
		{"convergence/gat+rep/chameleon-filtered", 1e-5, Reproduced},
		{"convergence/gat+rep/chameleon-filtered", 5e-4, Weaker},
		{"convergence/gat+rep/chameleon-filtered", 1e-2, NotReproduced},
	} {
		j := verdictOf(t, Quick(), c.id, func(runs.Task) any {
			o := train.Inversion{MeanAbsError: train.Number(c.x), MeanAbsInput: 0.1}
			for range 8 {
				o.Residual = append(o.Residual, train.Number(c.x))
			}
			return o
		})
		if j.Verdict != c.want || len(j.Records) != 1 || j.Splits != 0 {
			t.Errorf("%s of %g: %+v", c.id, c.x, j)
		}
	}
}

func TestVerdictsOfCosts(t *testing.T) {
	noisy := func(by float64) func(train.Config) float64 { // a straight line, except for one point
		return func(c train.Config) float64 {
			if c.Reverse == 128 {
				return 0.128 + by
			}
			return 0.001 * float64(c.Reverse)
		}
	}
	power := func(p float64) func(train.Config) float64 {
		return func(c train.Config) float64 { return math.Pow(float64(c.Forward), p) }
	}
	for _, c := range []struct {
		id      string
		seconds func(train.Config) float64
		want    Verdict
	}{
		{"run-time/gcn+rep/minesweeper/1-forward-layer", noisy(0), Reproduced},
		{"run-time/gcn+rep/minesweeper/1-forward-layer", noisy(0.04), Weaker},
		{"run-time/gcn+rep/minesweeper/1-forward-layer", noisy(0.3), NotReproduced},
		{"run-time/gcn+rep/minesweeper/1-forward-layer", func(c train.Config) float64 { return 1 / float64(c.Reverse) },
			NotReproduced},
		{"time/L_F", power(1), Reproduced},
		{"time/L_F", power(2), Reproduced},
		{"time/L_F", power(2.3), Weaker},
		{"time/L_F", power(3), NotReproduced},
		{"memory/L_F", power(1), Reproduced},
		{"memory/L_F", power(2), NotReproduced},
	} {
		j := verdictOf(t, Quick(), c.id, func(task runs.Task) any {
			x := c.seconds(task.Config)
			return runs.Timed{Benchmark: train.Benchmark{EpochSeconds: x, PeakRSS: 4e8 + int64(1e6*x)}, IdleRSS: 4e8}
		})
		if j.Verdict != c.want {
			t.Errorf("%s: %+v", c.id, j)
		}
	}
}

func TestVerdictsOfStatistics(t *testing.T) {
	row := published[DatasetStatistics]("table5").Rows[0]
	for _, c := range []struct {
		nodes     int
		homophily float64
		want      Verdict
	}{{row.Nodes, row.EdgeHomophily, Reproduced}, {row.Nodes, 0.5, Weaker}, {1, row.EdgeHomophily, NotReproduced}} {
		j := verdictOf(t, Quick(), "table5/"+row.Dataset, func(task runs.Task) any {
			if task.Kind != runs.Measure {
				t.Errorf("asked for %s", task)
			}
			return metrics.Stats{Name: row.Dataset, Nodes: c.nodes, Edges: row.Edges, Classes: row.Classes,
				AverageDegree: row.AverageDegree, EdgeHomophily: c.homophily, AdjustedHomophily: row.AdjustedHomophily}
		})
		if j.Verdict != c.want {
			t.Errorf("%+v: %+v", c, j)
		}
	}
}

func TestTrainings(t *testing.T) {
	var records []*runs.Record
	for _, at := range [][2]int{{0, 1}, {0, 2}, {1, 1}, {1, 1}} {
		records = append(records, &runs.Record{Kind: runs.Train, Split: at[0], Seed: uint64(at[1]),
			Status: runs.OK})
	}
	records = append(records, &runs.Record{Kind: runs.Bench, Split: runs.NoSplit, Status: runs.OK},
		&runs.Record{Kind: runs.Train, Split: 2, Status: runs.Diverged})
	splits, least, most := seeds(records, nil)
	if got := trainings(splits, least, most); splits != 2 || got != "2 splits × 1 to 2 seeds" {
		t.Errorf("got %d, %s", splits, got)
	}
}
