package roofline_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"slices"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/roofline"
	"github.com/revgnn/revgnn/pkg/train"
)

// The example analyses an epoch of GCN+ReP on this machine. It is compiled with the tests, but not run, since it needs
// an XLA engine and half a minute.
func ExampleAnalyse() {
	ctx := context.Background()
	e, err := engine.Open(engine.CPU)
	if err != nil {
		log.Fatal(err)
	}
	g, err := datasets.Load(ctx, "minesweeper-generated", datasets.Options{})
	if err != nil {
		log.Fatal(err)
	}
	c := train.Default("gcn+rep")
	c.Forward, c.Reverse, c.Epochs = 1, 16, 10
	a, err := roofline.Analyse(ctx, e, g, c, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("an epoch takes %.3f s, of which the machine needs %.0f %%\n", a.EpochSeconds, 100*a.Fraction)
}

// The example reads an analysis that was stored as JSON. The lost time of a kernel is its measured time minus its least
// time, multiplied by the number of its executions in an epoch. The example finds the kernel that loses the most time.
func ExampleAnalysis() {
	const kept = `{"model": "gcn+rep", "kernels": [
		{"name": "X W", "times": 53, "seconds": 0.0005, "least_seconds": 0.0004},
		{"name": "Â X", "times": 53, "seconds": 0.0009, "least_seconds": 0.0003},
		{"name": "Adam", "times": 1, "seconds": 0.0001, "least_seconds": 0.0001}]}`
	var a roofline.Analysis
	if err := json.Unmarshal([]byte(kept), &a); err != nil {
		log.Fatal(err)
	}
	lost := func(k roofline.Kernel) float64 { return k.Times * (k.Seconds - k.Least) }
	worst := slices.MaxFunc(a.Kernels, func(a, b roofline.Kernel) int { return int(1e9 * (lost(a) - lost(b))) })
	fmt.Printf("%s loses %.3f s per epoch\n", worst.Name, lost(worst))
	// Output: Â X loses 0.032 s per epoch
}
