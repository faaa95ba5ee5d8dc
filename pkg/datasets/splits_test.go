package datasets

import "testing"

// TestLegacyRandomDrawsNumPysNumbers compares the first random numbers with those that NumPy's
// RandomState(1941488137).randint draws over the full range of 32 bits.
func TestLegacyRandomDrawsNumPysNumbers(t *testing.T) {
	random := newLegacyRandom(PaperSeeds[0])
	for i, want := range []uint32{64570119, 4259815934, 2767220907} {
		if got := random.Uint32(); got != want {
			t.Errorf("draw %d is %d, want %d", i, got, want)
		}
	}
}

func TestPaperSplitsCoverSmallGraphs(t *testing.T) {
	for n := range 30 {
		for k, s := range PaperSplits(n) {
			var train, val, test int
			for i := range n {
				count := 0
				for _, c := range []struct {
					in bool
					n  *int
				}{{s.Train[i], &train}, {s.Val[i], &val}, {s.Test[i], &test}} {
					if c.in {
						*c.n++
						count++
					}
				}
				if count != 1 {
					t.Fatalf("n=%d split %d: node %d is in %d masks", n, k, i, count)
				}
			}
			if n%5 == 0 && (train != n*3/5 || val != n/5 || test != n/5) {
				t.Errorf("n=%d split %d: %d/%d/%d nodes", n, k, train, val, test)
			}
		}
	}
}
