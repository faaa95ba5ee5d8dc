package main

import (
	"encoding/json"
	"path/filepath"
	"testing"
)

// trace measures the states of a trained model, forwards and backwards, on the graph that it was trained on.
func TestTrace(t *testing.T) {
	out := t.TempDir()
	base := []string{"--dataset", "minesweeper-generated", "--engine", "go", "--json", "--quiet"}
	succeeds(t, append([]string{"train", "--model", "gcn+rep", "--forward", "2", "--reverse", "3", "--hidden", "8",
		"--epochs", "2", "--splits", "0", "--out", out}, base...)...)
	said := succeeds(t, append([]string{"trace", "--weights", filepath.Join(out, "split0.safetensors")}, base...)...)
	var got traced
	if err := json.Unmarshal([]byte(said.stdout), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Forward) != 3 || len(got.Reverse) != 4 || got.Forward[0].GSL != got.Reverse[0].GSL {
		t.Fatalf("%+v", got)
	}
	for _, s := range append(got.Forward, got.Reverse...) {
		if !(s.GSL <= 1 && *s.Dirichlet > 0 && *s.MAD > 0 && *s.EffectiveRank >= 1 && *s.EffectiveRank <= 8) {
			t.Errorf("layer %d: %v %v %v %v", s.Layer, s.GSL, *s.Dirichlet, *s.MAD, *s.EffectiveRank)
		}
	}
}
