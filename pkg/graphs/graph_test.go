package graphs

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"
)

func masks(train, val, test []bool) []Split { return []Split{{train, val, test}} }

func TestNewOrdersAndDeduplicates(t *testing.T) {
	g, err := New("g", 4, []Edge{{3, 1}, {1, 0}, {0, 1}, {2, 2}, {1, 3}, {0, 2}}, []float32{1, 2, 3, 4}, 1,
		[]int32{0, 1, 0, 1}, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := []Edge{{0, 1}, {0, 2}, {1, 3}}; !slices.Equal(g.Edges, want) {
		t.Errorf("edges %v, want %v", g.Edges, want)
	}
	if want := []int{2, 2, 1, 1}; !slices.Equal(g.Degrees(), want) {
		t.Errorf("degrees %v, want %v", g.Degrees(), want)
	}
	want := [][]int32{{1, 2}, {0, 3}, {0}, {1}}
	for i, got := range g.Neighbours() {
		if !slices.Equal(got, want[i]) {
			t.Errorf("neighbours of %d are %v, want %v", i, got, want[i])
		}
	}
}

func TestValidateNamesWhatIsWrong(t *testing.T) {
	yes, no := []bool{true, false}, []bool{false, false}
	for _, c := range []struct {
		g    Graph
		want string
	}{
		{Graph{}, ""},
		{Graph{NumNodes: -1}, "-1 nodes"},
		{Graph{NumFeatures: -1}, "-1 features"},
		{Graph{NumNodes: 2, Edges: []Edge{{0, 2}}}, "edge 0 joins nodes 0 and 2"},
		{Graph{NumNodes: 2, Edges: []Edge{{-1, 0}}}, "edge 0 joins nodes -1 and 0"},
		{Graph{NumNodes: 2, Edges: []Edge{{1, 0}}}, "out of order"},
		{Graph{NumNodes: 2, Edges: []Edge{{0, 1}, {0, 1}}}, "edge 1 (0, 1) is out of order"},
		{Graph{NumNodes: 2, Features: make([]float32, 3), NumFeatures: 2}, "3 feature values for 2 nodes"},
		{Graph{NumNodes: 1, Features: []float32{0, float32(math.NaN())}, NumFeatures: 2},
			"feature 1 of node 0 is NaN"},
		{Graph{NumNodes: 1, Features: []float32{float32(math.Inf(1))}, NumFeatures: 1}, "is +Inf"},
		{Graph{NumNodes: 1, Columns: []Column{{Name: "c"}}}, `column "c": it has 0 values for 1 nodes`},
		{Graph{Columns: []Column{{Values: []string{"b", "a"}}}}, `"b" and "a" are out of order`},
		{Graph{NumNodes: 1, Columns: []Column{{Values: []string{"a"}, Codes: []int32{1}}}}, "node 0 has text 1"},
		{Graph{NumNodes: 2, Labels: []int32{0}, NumClasses: 1}, "1 labels for 2 nodes"},
		{Graph{NumNodes: 2, Labels: []int32{0, 1}, NumClasses: 1}, "node 1 has label 1"},
		{Graph{NumNodes: 2, Labels: []int32{0, 0}, NumClasses: 1, Splits: masks(yes, no, nil)}, "2, 2 and 0 entries"},
		{Graph{NumNodes: 2, Labels: []int32{0, 0}, NumClasses: 1, Splits: masks(yes, no, yes)},
			"node 0 is in two masks of split 0"},
		{Graph{NumNodes: 2, Labels: []int32{0, 0}, NumClasses: 1, Splits: masks(yes, no, no)}, ""},
	} {
		err := c.g.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("the error is %v, want %q", err, c.want)
		}
	}
}

// FuzzNew calls New with arbitrary edges. If New accepts the edges, the lists of neighbours must be symmetric: if i has
// the neighbour j, then j has the neighbour i.
func FuzzNew(f *testing.F) {
	f.Add(4, []byte{0, 0, 0, 1, 0, 0, 0, 2})
	f.Add(2, []byte{255, 255, 255, 255, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, nodes int, raw []byte) {
		if nodes > 1000 {
			return
		}
		var edges []Edge
		for ; len(raw) >= 8; raw = raw[8:] {
			edges = append(edges, Edge{int32(binary.BigEndian.Uint32(raw)), int32(binary.BigEndian.Uint32(raw[4:]))})
		}
		g, err := New("fuzz", nodes, edges, nil, 0, make([]int32, max(0, nodes)), 1, nil)
		if err != nil {
			return
		}
		for i, list := range g.Neighbours() {
			for _, j := range list {
				if !slices.Contains(g.Neighbours()[j], int32(i)) {
					t.Fatalf("%d is a neighbour of %d, but not the other way round", j, i)
				}
			}
		}
	})
}

func TestUntaught(t *testing.T) {
	for _, c := range []struct {
		train   []bool
		want    []string
		problem bool
	}{{[]bool{true, true, false, false}, []string{"2"}, false}, {[]bool{true, false, false, false}, []string{"1", "2"}, true},
		{[]bool{true, true, true, false}, nil, false}} {
		none := make([]bool, 4)
		g, err := New("g", 4, nil, nil, 0, []int32{0, 1, 2, Unlabelled}, 4, []Split{{c.train, none, none}})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := g.Untaught(0); !slices.Equal(got, c.want) || (err != nil) != c.problem {
			t.Errorf("%v: got %q, %v", c.train, got, err)
		}
	}
}
