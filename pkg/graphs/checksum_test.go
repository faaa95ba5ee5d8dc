package graphs

import "testing"

func checksummed() *Graph {
	return &Graph{Name: "g", NumNodes: 3, Edges: []Edge{{0, 1}, {1, 2}},
		Features: []float32{1, 2, 3}, NumFeatures: 1, Labels: []int32{0, 1, 0}, NumClasses: 2,
		Splits: masks([]bool{true, false, false}, []bool{false, true, false}, []bool{false, false, true})}
}

// TestChecksumIsOfTheContent changes one part of a graph at a time, and checks that the checksum changes. It also
// compares the checksum with a constant, because a graph must have the same checksum in all versions of revgnn.
// Recorded runs contain the checksums of their datasets. If a new version computed other checksums, it would not
// recognise these datasets.
func TestChecksumIsOfTheContent(t *testing.T) {
	want := checksummed().Checksum()
	if literal := "091d9076352df0d05fbff69f989409a38fd493b6453c30a1da9c0d9c2e1ed17c"; want != literal {
		t.Errorf("the checksum is %s, and was %s", want, literal)
	}
	for what, change := range map[string]func(*Graph){
		"nodes":    func(g *Graph) { g.NumNodes = 4 },
		"edges":    func(g *Graph) { g.Edges[1] = Edge{0, 2} },
		"features": func(g *Graph) { g.Features[2] = 4 },
		"shape":    func(g *Graph) { g.NumNodes, g.NumFeatures = 1, 3 },
		"labels":   func(g *Graph) { g.Labels[0] = 1 },
		"classes":  func(g *Graph) { g.NumClasses = 3 },
		"masks":    func(g *Graph) { g.Splits[0].Train[0] = false },
		"roles":    func(g *Graph) { s := &g.Splits[0]; s.Train, s.Val = s.Val, s.Train },
		"arcs":     func(g *Graph) { g.Arcs = []Arc{{0, 1}, {2, 1}} },
		"texts":    func(g *Graph) { g.Columns = []Column{{Values: []string{"a"}, Codes: []int32{0, 0, Missing}}} },
		"splits":   func(g *Graph) { g.Splits = append(g.Splits, g.Splits[0]) },
	} {
		g := checksummed()
		if change(g); g.Checksum() == want {
			t.Errorf("other %s have the same checksum", what)
		}
	}
	one, other := checksummed(), checksummed()
	one.Arcs, other.Arcs = []Arc{{0, 1}, {2, 1}}, []Arc{{1, 0}, {2, 1}}
	if one.Checksum() == other.Checksum() {
		t.Error("other directions have the same checksum")
	}
	if one.Undirected().Checksum() != want {
		t.Error("without directions, the checksum is not that of the undirected graph")
	}
	g := checksummed()
	if g.Name = "another"; g.Checksum() != want {
		t.Error("another name has another checksum")
	}
}

func BenchmarkChecksum(b *testing.B) {
	g := &Graph{NumNodes: 1 << 15, NumFeatures: 256, Features: make([]float32, 1<<23)}
	b.SetBytes(4 << 23)
	for b.Loop() {
		g.Checksum()
	}
}
