package train

import (
	"context"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
)

// TestMemoryPrediction compares predictions with the peaks of the process. Those include what else the tests have done, so
// that a prediction may be lower here, but not far.
func TestMemoryPrediction(t *testing.T) {
	e := enginetest.Open(t, engine.CPU)
	t.Setenv(engine.Programs, "off")
	g := board(t, 100)
	for _, model := range []string{"gcn", "gcn+rep", "gat+rep"} {
		c := small(model)
		c.Epochs, c.Hidden = 2, 128
		r := fitted(t, e, g, c)
		if want := Memory(g, c).Bytes; r.PredictedBytes != want || want < r.PeakRSS/2 || want > r.PeakRSS*3/2 {
			t.Errorf("%s: predicted %d bytes, recorded %d, the process had %d", model, want, r.PredictedBytes, r.PeakRSS)
		}
	}
}

func TestMemoryGrows(t *testing.T) {
	g, larger := board(t, 16), board(t, 32)
	for _, model := range []string{"gcn", "gcn+rep", "gat", "gat+rep", "grand", "grand+rep"} {
		c := Default(model)
		base := Memory(g, c).Bytes
		sum := int64(0)
		for _, p := range Memory(g, c).Parts {
			sum += p.Bytes
		}
		if sum != base || base <= 0 {
			t.Errorf("%s: %d bytes, the parts have %d", model, base, sum)
		}
		wide := c
		wide.Hidden *= 256
		if Memory(g, wide).Bytes <= base || Memory(larger, c).Bytes <= base {
			t.Errorf("%s: a wider model or a larger graph is not predicted to need more", model)
		}
	}
	reverse := Default("gcn+rep")
	deep := reverse
	deep.Reverse = 4096
	if Memory(g, deep).Bytes != Memory(g, reverse).Bytes {
		t.Error("memory depends on the reverse depth")
	}
}

// TestTooLittleMemory refuses with the largest width that fits.
func TestTooLittleMemory(t *testing.T) {
	e := enginetest.Open(t, engine.CPU)
	g := board(t, 100)
	c := small("gat+rep")
	c.Hidden, c.Heads = 2048, 2
	refused := func(limit string) string {
		t.Helper()
		t.Setenv(MemoryVariable, limit)
		_, err := Fit(context.Background(), e, g, 0, c, nil)
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Fatalf("%s GiB: want one sentence, got %v", limit, err)
		}
		return err.Error()
	}
	for _, part := range []string{"gat+rep with hidden 2048", "10000 nodes", "2.0 GiB are free", "states of all nodes", "--hidden "} {
		if message := refused("2"); !strings.Contains(message, part) {
			t.Errorf("%q is not in: %s", part, message)
		}
	}
	if message := refused("0.01"); !strings.Contains(message, "no width fits") {
		t.Errorf("got %s", message)
	}
	if message := refused("much"); !strings.Contains(message, "must be a number of GiB") {
		t.Errorf("got %s", message)
	}
	limit := int64(2) << 30
	need := func(c Config) Estimate { return Memory(g, c) }
	width := widest(c, func(c Config) bool { return need(c).Bytes <= limit })
	c.Hidden = width
	fits := need(c).Bytes <= limit
	c.Hidden += 8
	if !fits || need(c).Bytes <= limit {
		t.Errorf("the width %d is not the largest multiple of 8 that fits", width)
	}
	c.Hidden = 64
	t.Setenv(MemoryVariable, "2")
	if _, err := reserve(e, g, c); err != nil {
		t.Errorf("refused although it fits: %v", err)
	}
}
