package main

import (
	"slices"
	"testing"
)

// TestWeightsAreDrawn checks that the weights do not depend on the seed of the training. It also checks the first
// values of batch normalisation's running statistics: means must be 0, and variances 1.
func TestWeightsAreDrawn(t *testing.T) {
	c := named(t, "gcn-minesweeper-1-64-64")
	k := c.config
	k.Norm, k.Seed = "batch", 5
	w, err := drawn(k, 7, 2)
	if err != nil {
		t.Fatal(err)
	}
	again, err := drawn(c.config, 7, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"in_.weight", "in_.bias", "stack.0.body.lin.weight_orig", "out.weight", "out.bias"} {
		if len(w[name].Values) == 0 || !slices.Equal(w[name].Values, again[name].Values) {
			t.Errorf("%s is %v", name, w[name])
		}
	}
	if v := w["out_norm.running_var"].Values; len(v) != 128 || v[0] != 1 || v[127] != 1 {
		t.Errorf("running variances start as %v", v)
	}
	if v := w["out_norm.running_mean"].Values; len(v) != 128 || v[0] != 0 {
		t.Errorf("running means start as %v", v)
	}
}
