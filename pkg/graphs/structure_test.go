package graphs

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// ladder has twenty rungs, a tail of three nodes at the last one, a triangle, and a node without edges.
func ladder() *Graph {
	edges := []Edge{{38, 40}, {40, 41}, {41, 42}, {43, 44}, {44, 45}, {43, 45}}
	for i := range int32(20) {
		edges = append(edges, Edge{2 * i, 2*i + 1})
		if i < 19 {
			edges = append(edges, Edge{2 * i, 2*i + 2}, Edge{2*i + 1, 2*i + 3})
		}
	}
	return &Graph{Name: "ladder", NumNodes: 47, Edges: canonical(edges), Labels: make([]int32, 47), NumClasses: 1}
}

// TestStructureAsByNumPy compares with numbers of NumPy: eigh of D^-1/2 A D^-1/2, whose eigenvectors got the sign and
// the length that [Prepared.structure] says, and the diagonals of powers of D^-1 A.
func TestStructureAsByNumPy(t *testing.T) {
	g := ladder()
	none := make([]bool, g.NumNodes)
	features := func(structure string) (rows [][]float32) {
		out, _ := prepared(t, g, none, settings(func(p *Preparation) { p.Structure = structure }))
		for i := range g.NumNodes {
			rows = append(rows, out.Features[i*out.NumFeatures:(i+1)*out.NumFeatures])
		}
		return rows
	}
	near := func(what string, got float32, want, within float64) {
		t.Helper()
		if math.Abs(float64(got)-want) > within {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	laplacian := features("laplacian")
	nodes := []int{0, 1, 7, 20, 39, 40, 42, 43, 46}
	for k, want := range map[int][]float64{
		0: {-1.23653, -1.23653, -1.33798, -0.00543, 1.20413, 1.27794, 0.93302, 0, 0},
		1: {1.21809, 1.21809, 0.84606, -1.49303, 1.06277, 1.39308, 1.12167, 0, 0},
		2: {-1.17232, -1.17232, -0.20599, 0.19051, 0.69552, 1.56632, 1.49074, 0, 0},
		7: {-1.21052, -1.21052, 1.32991, -0.92196, 1.34046, 0.31566, -0.86794, 0, 0},
	} {
		for i, node := range nodes {
			near("an eigenvector", laplacian[node][k], want[i], 1e-3)
		}
	}
	walks := features("random-walk")
	for node, want := range map[int][]float64{
		0:  {0, 0.4166667, 0, 0.3078704, 0, 0.2559799, 0, 0.2238029},
		7:  {0, 0.3333333, 0, 0.2345679, 0, 0.1941015, 0, 0.1723251},
		38: {0, 0.4444444, 0, 0.3287037, 0, 0.2834791, 0, 0.2583031},
		42: {0, 0.5, 0, 0.375, 0, 0.3020833, 0, 0.2514468},
		43: {0, 0.5, 0.25, 0.375, 0.3125, 0.34375, 0.328125, 0.3359375},
		46: make([]float64, 8),
	} {
		for k, v := range want {
			near("a probability", walks[node][k], v, 1e-7)
		}
	}
	near("log(1 + 3)", features("degree")[7][0], math.Log(4), 1e-6)
	near("the constant", features("constant")[46][0], 1, 0)
	if identity := features("identity"); identity[3][3] != 1 || identity[3][4] != 0 || len(identity[0]) != 47 {
		t.Errorf("the row of node 3 is %v", identity[3])
	}
}

// TestStructureWithoutEdges computes features of graphs that have few eigenvectors or none.
func TestStructureWithoutEdges(t *testing.T) {
	for _, g := range []*Graph{{NumNodes: 1}, {NumNodes: 3}, {NumNodes: 2, Edges: []Edge{{0, 1}}},
		{NumNodes: 3, Edges: []Edge{{0, 1}, {0, 2}, {1, 2}}}} {
		g.Labels = make([]int32, g.NumNodes)
		g.NumClasses = 1
		for _, structure := range []string{"constant", "degree", "identity", "laplacian", "random-walk"} {
			prepared(t, g, make([]bool, g.NumNodes), settings(func(p *Preparation) { p.Structure = structure }))
		}
	}
}

func TestStructureOfOtherGraphs(t *testing.T) {
	g, other := ladder(), ladder()
	other.Edges = other.Edges[1:]
	smaller := ladder()
	smaller.NumNodes--
	for structure, want := range map[string][2]bool{ // whether a model fits: other edges, another node less
		"laplacian": {false, false}, "identity": {true, false}, "degree": {true, true}, "random-walk": {true, true}} {
		p, _, err := settings(func(p *Preparation) { p.Structure = structure }).Prepare(g, make([]bool, g.NumNodes))
		if err != nil {
			t.Fatal(err)
		}
		for k, g := range []*Graph{other, smaller} {
			_, _, err := p.Apply(g)
			if fits := err == nil; fits != want[k] || !fits && !strings.Contains(err.Error(), "it is not the graph") {
				t.Errorf("%s, %d: %v", structure, k, err)
			}
		}
	}
	large := &Graph{Name: "large", NumNodes: 10000}
	_, _, err := settings(func(p *Preparation) { p.Structure = "identity" }).Prepare(large, make([]bool, 10000))
	if err == nil || !strings.Contains(err.Error(), "8192 at most") {
		t.Errorf("got %v", err)
	}
}

// TestStructureOfLargeGraphs is for a grid with 100,000 nodes, whose eigenvalues are close to one another, and a random
// graph, whose eigenvalues are far from 1: the vectors have small residuals. (A matrix of the grid's nodes by nodes
// would take 80 GB.)
func TestStructureOfLargeGraphs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes ten seconds")
	}
	const rows, cols, random = 250, 400, 20_000
	var grid, drawn []Edge
	for i := range int32(rows * cols) {
		if (i+1)%cols != 0 {
			grid = append(grid, Edge{i, i + 1})
		}
		if i+cols < rows*cols {
			grid = append(grid, Edge{i, i + cols})
		}
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for range 4 * random {
		drawn = append(drawn, Edge{rng.Int32N(random), rng.Int32N(random)})
	}
	for _, g := range []*Graph{{Name: "grid", NumNodes: rows * cols, Edges: canonical(grid)},
		{Name: "random", NumNodes: random, Edges: canonical(drawn)}} {
		vectors, err := g.laplacian(8)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.returns(make([]float32, 8*g.NumNodes), 8); err != nil {
			t.Error(err)
		}
		degrees := g.Degrees()
		for k, v := range vectors {
			image := make([]float64, len(v))
			for _, e := range g.Edges {
				w := 1 / math.Sqrt(float64(degrees[e[0]]*degrees[e[1]]))
				image[e[0]] += w * v[e[1]]
				image[e[1]] += w * v[e[0]]
			}
			value, square, residual := 0.0, 0.0, 0.0
			for i, x := range v {
				value += x * image[i] / float64(len(v))
				square += x * x / float64(len(v))
			}
			for i, x := range v {
				residual += (image[i] - value*x) * (image[i] - value*x) / float64(len(v))
			}
			residual = math.Sqrt(residual)
			if math.Abs(square-1) > 1e-9 || !(residual < 1e-4*(1-value)) || value > 1-1e-6 {
				t.Errorf("%s, %d: eigenvalue %v, mean square %v, residual %v", g.Name, k, value, square, residual)
			}
		}
	}
}
