package datasets

import (
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/metrics"
)

// TestHomophilicDatasetsAreExact compares the five homophilic datasets with expected values, which were made with
// PyTorch Geometric and NumPy. The features (as stored, not yet normalised), the labels, the edges and the paper's ten
// splits must be equal, bit for bit.
func TestHomophilicDatasetsAreExact(t *testing.T) {
	golden, dir := shared(t, "golden/datasets"), shared(t, "data")
	for _, name := range []string{"cora", "citeseer", "pubmed", "computers", "photo"} {
		t.Run(name, func(t *testing.T) {
			info, err := Info(name)
			if err != nil {
				t.Fatal(err)
			}
			got, err := parseRaw(info, dir)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(golden, name+".npz")
			want, err := withNPZ(path, name, platonovGraph)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Features, want.Features) || got.NumFeatures != want.NumFeatures {
				t.Error("features differ")
			}
			if !slices.Equal(got.Labels, want.Labels) || got.NumClasses != want.NumClasses {
				t.Error("labels differ")
			}
			if !slices.Equal(got.Edges, want.Edges) {
				t.Error("edges differ")
			}
			if len(got.Splits) != 10 || len(want.Splits) != 10 {
				t.Fatalf("%d splits, golden has %d", len(got.Splits), len(want.Splits))
			}
			for k := range got.Splits {
				a, b := got.Splits[k], want.Splits[k]
				if !slices.Equal(a.Train, b.Train) || !slices.Equal(a.Val, b.Val) || !slices.Equal(a.Test, b.Test) {
					t.Errorf("split %d differs", k)
				}
			}
		})
	}
}

// TestBalancedSplits compares the splits of [BalancedSplits] with the splits that NumPy draws. The masks must have the
// same numbers of nodes, and the same checksums. The test also counts the classes that have test nodes. (Small classes
// have none.)
func TestBalancedSplits(t *testing.T) {
	opts := Options{Dir: shared(t, "data"), Offline: true}
	for _, c := range []struct {
		name                   string
		split                  int
		sizes, squares         [3]int // squares: the sum of the squares of the nodes' numbers, modulo 1000003
		testedClasses, classes int
	}{
		{"cora-balanced", 0, [3]int{1557, 542, 609}, [3]int{290645, 869877, 646426}, 5, 7},
		{"cora-balanced", 9, [3]int{1557, 542, 609}, [3]int{585648, 563261, 658039}, 5, 7},
		{"citeseer-balanced", 0, [3]int{1929, 665, 733}, [3]int{950702, 457775, 463070}, 5, 6},
		{"citeseer-balanced", 9, [3]int{1929, 665, 733}, [3]int{207472, 986382, 677693}, 5, 6},
		{"computers-balanced", 0, [3]int{6182, 2750, 4820}, [3]int{522955, 685965, 272508}, 4, 10},
	} {
		g, err := Load(t.Context(), c.name, opts)
		if err != nil {
			t.Fatal(err)
		}
		if g.Name != c.name || g.NumClasses != c.classes || len(g.Splits) != 10 {
			t.Errorf("%s: the graph is named %q, has %d classes and %d splits", c.name, g.Name, g.NumClasses, len(g.Splits))
		}
		s, tested := g.Splits[c.split], map[int32]bool{}
		for k, mask := range [][]bool{s.Train, s.Val, s.Test} {
			size, squares := 0, 0
			for i, in := range mask {
				if in {
					size, squares = size+1, (squares+i*i)%1000003
				}
				if in && k == 2 {
					tested[g.Labels[i]] = true
				}
			}
			if size != c.sizes[k] || squares != c.squares[k] {
				t.Errorf("%s, split %d, mask %d: %d nodes with checksum %d, want %d with %d", c.name, c.split, k, size,
					squares, c.sizes[k], c.squares[k])
			}
		}
		if len(tested) != c.testedClasses {
			t.Errorf("%s: %d classes are tested, want %d", c.name, len(tested), c.testedClasses)
		}
	}
	if _, err := Load(t.Context(), "minesweeper-balanced", opts); err == nil {
		t.Error("minesweeper has splits of its own, and minesweeper-balanced was loaded")
	}
}

// TestStatistics computes the statistics of those datasets whose files are at hand (atHand), and compares them with the
// statistics in the manifest. They must agree in all decimals that the manifest has. It also checks that loading takes
// at most two seconds.
func TestStatistics(t *testing.T) {
	for _, name := range atHand {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			g := load(t, name)
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("loading took %v", took)
			}
			info, err := Info(name)
			if err != nil {
				t.Fatal(err)
			}
			want := info.Statistics
			got := metrics.GraphStats(g)
			scale := math.Pow10(want.Decimals)
			if got.Nodes != want.Nodes || got.Edges != want.Edges || got.DirectedEdges != want.DirectedEdges ||
				got.Classes != want.Classes || got.Features != want.Features ||
				got.Splits != 10 || math.Round(got.EdgeHomophily*scale) != math.Round(want.EdgeHomophily*scale) ||
				math.Round(got.AdjustedHomophily*scale) != math.Round(want.AdjustedHomophily*scale) {
				t.Errorf("got %+v, the manifest has %+v", got, want)
			}
			if err := g.Validate(); err != nil {
				t.Error(err)
			}
			for k, s := range g.Splits {
				for i := range s.Train {
					if !s.Train[i] && !s.Val[i] && !s.Test[i] {
						t.Fatalf("split %d leaves out node %d", k, i)
					}
				}
			}
		})
	}
}

func TestFeaturesAreNormalisedWhereThePaperDoes(t *testing.T) {
	dir := shared(t, "data")
	for _, name := range atHand {
		info, err := Info(name)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := parseRaw(info, dir)
		if err != nil {
			t.Fatal(err)
		}
		g := load(t, name)
		if info.Format == data.Platonov {
			if !slices.Equal(g.Features, raw.Features) {
				t.Errorf("%s: features are not as stored", name)
			}
			continue
		}
		for i := range g.NumNodes {
			sum, stored := 0.0, 0.0
			for k := i * g.NumFeatures; k < (i+1)*g.NumFeatures; k++ {
				sum += float64(g.Features[k])
				stored += float64(raw.Features[k])
			}
			if want := stored / max(1, stored); math.Abs(sum-want) > 1e-5 {
				t.Fatalf("%s: row %d sums to %v, want %v", name, i, sum, want)
			}
		}
	}
}

func TestVerifyRealFiles(t *testing.T) {
	opts := Options{Dir: shared(t, "data"), Offline: true}
	for _, name := range atHand {
		if err := Verify(name, opts); err != nil {
			t.Error(err)
		}
		if err := Get(t.Context(), name, opts); err != nil {
			t.Error(err)
		}
	}
}

// TestPublicFeaturesAreOfOneScale checks that no training on public datasets prepares features or warns of their
// scales.
func TestPublicFeaturesAreOfOneScale(t *testing.T) {
	opts := Options{Dir: shared(t, "data"), Offline: true}
	for _, name := range append(slices.Clone(atHand), MinesweeperGenerated) {
		g, err := Load(t.Context(), name, opts)
		if err != nil {
			t.Fatal(err)
		}
		p := graphs.Preparation{Scale: "none", FitOn: "train", Missing: "refuse", Structure: "none"}
		prepared, notes, err := p.Prepare(g, g.Splits[0].Train)
		if prepared != nil || notes != nil || err != nil {
			t.Errorf("%s: %v, %q, %v", name, prepared, notes, err)
		}
	}
}
