package datasets

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/graphs"
)

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

// TestSplitsByClass draws splits of small classes. One that is large enough keeps the [PaperSplits].
func TestSplitsByClass(t *testing.T) {
	var labels []int32
	sizes := []int{1, 2, 3, 4, 7, 100}
	for class, size := range sizes {
		labels = append(labels, slices.Repeat([]int32{int32(class)}, size)...)
	}
	labels = append(labels, graphs.Unlabelled)
	splits, notes := labelledSplits(labels, len(sizes)+1) // the last class has no nodes
	if len(splits) != 10 || len(notes) != 1 || !strings.Contains(notes[0], "class by class") {
		t.Fatalf("%d splits, notes %q", len(splits), notes)
	}
	want := [][3]int{{}, {}, {1, 1, 1}, {2, 1, 1}, {4, 1, 2}, {60, 20, 20}}
	for k, s := range splits {
		got := make([][3]int, len(sizes))
		for i, class := range labels {
			for part, mask := range [][]bool{s.Train, s.Val, s.Test} {
				if mask[i] && class == graphs.Unlabelled {
					t.Fatal("a node without a label is in a split")
				}
				if mask[i] {
					got[class][part]++
				}
			}
		}
		small := [3]int{got[0][0] + got[1][0], got[0][1] + got[1][1], got[0][2] + got[1][2]}
		if got[0], got[1] = want[0], want[1]; !slices.Equal(got, want) || small != [3]int{1, 1, 1} {
			t.Errorf("split %d: %v, want %v", k, got, want)
		}
		if k > 0 && slices.Equal(s.Train, splits[0].Train) {
			t.Errorf("split %d is split 0 again", k)
		}
	}
	even := make([]int32, 100)
	for i := range even {
		even[i] = int32(i % 2)
	}
	splits, notes = labelledSplits(even, 2)
	if !reflect.DeepEqual(splits, PaperSplits(100)) || notes != nil {
		t.Errorf("notes %q", notes)
	}
}
