package paper

import (
	"strings"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/results"
)

// The cost model: what operations take on two quiet cores of the machine of docs/performance.md. Estimates are scaled by what
// recorded runs took (see [calibration]).
const (
	flops     = 240e9 // of dense products, per second
	bandwidth = 60e9  // bytes per second, of sums over neighbours and elementwise work
	dispatch  = 30e-6 // seconds to start the kernels of one layer
	stopping  = 0.7   // share of the epochs that early stopping leaves
	sharing   = 0.2   // share of the time to compile where another split has compiled the same programme
)

// size of a graph, as far as costs depend on it.
type size struct{ nodes, edges, features, classes float64 }

// sizeOf reads the manifest.
func sizeOf(dataset string) size {
	if n, m, ok := isRandom(dataset); ok {
		return size{float64(n), float64(m), randomFeatures, 2}
	}
	sets, _ := data.Datasets()
	for _, d := range sets {
		if s := d.Statistics; d.Name == dataset {
			return size{float64(s.Nodes), float64(s.Edges), float64(s.Features), float64(s.Classes)}
		}
	}
	return size{1e4, 4e4, 10, 2}
}

// seconds estimates how long a task takes, by the operations in it.
func seconds(t Task) float64 {
	g, c := sizeOf(t.Dataset), t.Config
	if t.Kind == results.Measure {
		return 0.2 + g.edges/1e6
	}
	d := float64(c.Hidden)
	sum := 4*(2*g.edges+g.nodes)*d/bandwidth + dispatch
	layer := 2*g.nodes*d*d/flops + sum + 6*4*g.nodes*d/bandwidth
	compile := 1.5
	if strings.HasPrefix(c.Model, models.GAT) {
		layer += 2 * sum * float64(c.Heads)
		compile = 5
	}
	// Starts are extrapolated from the last layers, and better in deeper chains: some 4 iterations a solve in 16 layers, 1 in
	// 1024.
	iterations := min(1+60/max(20, float64(c.Reverse)), float64(c.MaxIterations))
	if c.Tolerance == 0 {
		iterations = float64(c.MaxIterations)
	}
	if t.Kind == results.Invert {
		return 3 + compile + float64(c.Forward)*layer*(1+float64(c.MaxIterations))
	}
	// Forward layers: once forwards; again, linearised and pulled back backwards.
	epoch := 3*2*g.nodes*g.features*d/flops + 5*float64(c.Forward)*layer
	if c.HasReverse() {
		epoch += float64(c.Reverse) * layer * (3 + 2*iterations)
	}
	if strings.HasPrefix(c.Model, models.GRAND) {
		evaluations := 4 * (c.Time + c.ReverseTime) / max(0.25, c.Step)
		epoch += 10 * evaluations * sum
		compile = 6
	}
	epochs := float64(c.Epochs)
	if c.Patience > 0 {
		epochs *= stopping
	}
	if t.Follow != nil {
		compile *= 3
	}
	if t.Split > 0 {
		compile *= sharing
	}
	return compile + epochs*epoch
}

// Memory estimates, in bytes, the memory that a task needs besides the programme's own: features, the states of the backward pass, and
// the graph's index arrays.
func Memory(t Task) float64 {
	g, c := sizeOf(t.Dataset), t.Config
	d := float64(c.Hidden)
	states := 24.0
	for k := 1; k*k < c.Forward; k++ { // 2 sqrt(L_F) checkpoints
		states += 2
	}
	if c.Adjoint == "unrolled" {
		states += float64(c.Reverse * c.MaxIterations)
	}
	edges := 16 * 2 * g.edges
	if !strings.HasPrefix(c.Model, models.GCN) {
		edges *= 6 * float64(max(1, c.Heads))
	}
	return 3e8 + 4*(2*g.nodes*g.features+states*g.nodes*d) + edges
}

// calibration is how much longer recorded runs took than estimated on this machine: the median over those of a kind, a model
// and a dataset, and over those of a kind.
type calibration map[string]float64

func calibrate(records map[string]*results.Record, steps []Step) calibration {
	here := results.Begin(results.Measure).Machine
	ratios := map[string][]float64{}
	for _, s := range steps {
		if r := records[s.Key]; r != nil && r.Machine == here && r.Status == results.OK {
			for _, class := range classes(s.Task) {
				ratios[class] = append(ratios[class], r.Seconds/seconds(s.Task))
			}
		}
	}
	out := calibration{}
	for class, all := range ratios {
		out[class] = metrics.Median(all)
	}
	return out
}

// classes group tasks whose estimates err alike, the narrowest first.
func classes(t Task) []string {
	return []string{t.Kind + " " + t.Config.Model + " " + t.Dataset, t.Kind}
}

// seconds is the calibrated estimate.
func (c calibration) seconds(t Task) float64 {
	for _, class := range classes(t) {
		if ratio, ok := c[class]; ok {
			return ratio * seconds(t)
		}
	}
	return seconds(t)
}
