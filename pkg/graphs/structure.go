package graphs

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Numbers of features: eigenvectors of the Laplacian, and steps of the random walk.
const (
	eigenvectors = 8
	walkSteps    = 8
)

// maxIdentity is the largest number of values of the one-hot identity, 8192² (256 MiB).
const maxIdentity = 1 << 26

// structureNames are those of the features that the structure appends. It records the graph's identity if these fit no
// other one.
func (p *Prepared) structureNames(g *Graph) (names []string, err error) {
	numbered := func(what string, count int) {
		for k := range count {
			names = append(names, fmt.Sprintf("%s %d", what, k+1))
		}
	}
	switch p.Structure {
	case "constant", "degree":
		names = []string{p.Structure}
	case "random-walk":
		numbered(p.Structure, walkSteps)
	case "laplacian":
		numbered(p.Structure, eigenvectors)
		p.Graph = g.identity(true)
	case "identity":
		if g.NumNodes > maxIdentity/max(1, g.NumNodes) {
			return nil, fmt.Errorf("graph %q has %d nodes, and a one-hot identity is for %d at most: choose "+
				"--structure random-walk or laplacian", g.Name, g.NumNodes, int(math.Sqrt(maxIdentity)))
		}
		for i := range g.NumNodes {
			names = append(names, "node="+g.ID(i))
		}
		p.Graph = g.identity(false)
	}
	return names, nil
}

// identity is a checksum of the nodes' names, and of the edges if asked for.
func (g *Graph) identity(edges bool) string {
	h := sha256.New()
	w := bufio.NewWriter(h)
	for i := range g.NumNodes {
		fmt.Fprintln(w, g.ID(i))
	}
	if edges {
		for _, e := range g.Edges {
			w.Write(binary.LittleEndian.AppendUint64(w.AvailableBuffer(), uint64(e[0])<<32|uint64(e[1])))
		}
	}
	w.Flush()
	return hex.EncodeToString(h.Sum(nil))
}

// structure is the matrix [nodes, width] of the features that are computed from undirected edges. With the adjacency A
// and the degrees D, a node's are
//
//   - constant: 1;
//   - degree: log(1 + degree);
//   - identity: a column of its own, so that a model fits only the same nodes;
//   - laplacian: its entries in the 8 eigenvectors of I - D^-1/2 A D^-1/2 with the smallest eigenvalues above 0
//     (Dwivedi et al., 2020, "Benchmarking graph neural networks"), scaled to a mean square of 1. The first of their
//     largest entries is positive. A model fits only the same graph, since another's eigenvectors mean something else;
//   - random-walk: the probabilities of being back after 1 to 8 steps of a random walk, diag((D^-1 A)^k) (Dwivedi et
//     al., ICLR 2022, "Graph neural networks with learnable structural and positional representations").
func (p *Prepared) structure(g *Graph, width int) ([]float32, error) {
	if p.Graph != "" && (p.Graph != g.identity(p.Structure == "laplacian") ||
		p.Structure == "identity" && width != g.NumNodes) {
		return nil, fmt.Errorf("it is not the graph that the model was trained on, and --structure %s fits no other: "+
			"give that one, or train with --structure random-walk or degree", p.Structure)
	}
	out := make([]float32, g.NumNodes*width)
	switch p.Structure {
	case "constant":
		for i := range out {
			out[i] = 1
		}
	case "degree":
		for i, d := range g.Degrees() {
			out[i] = float32(math.Log1p(float64(d)))
		}
	case "identity":
		for i := range g.NumNodes {
			out[i*width+i] = 1
		}
	case "laplacian":
		vectors, err := g.laplacian(width)
		for k, v := range vectors {
			for i, x := range v {
				out[i*width+k] = float32(x)
			}
		}
		return out, err
	case "random-walk":
		return out, g.returns(out, width)
	}
	return out, nil
}

// maxVisits bounds the passes along edges that random walks or eigenvectors may take: about a minute on two cores.
const maxVisits = 20e9

// returns writes the probabilities of being back at a node after 1 to steps (even) steps. With (D^-1 A)^k = P_k, those
// are P_(a+b)[i, i] = Σ_j P_a[i, j] P_b[j, i], and d_j P_b[j, i] = d_i P_b[i, j]: rows of up to steps/2 steps do.
func (g *Graph) returns(out []float32, steps int) error {
	neighbours := g.Neighbours()
	walk := func(rows [][]float64, from int) (visits float64) {
		reached := []int32{int32(from)}
		rows[0][from] = 1
		for k := 1; k < len(rows); k++ {
			var next []int32
			for _, j := range reached {
				share := rows[k-1][j] / float64(len(neighbours[j]))
				visits += float64(len(neighbours[j]))
				for _, to := range neighbours[j] {
					if rows[k][to] == 0 {
						next = append(next, to)
					}
					rows[k][to] += share
				}
			}
			odd, even := 0.0, 0.0
			for _, j := range reached { // where P_(k-1) is not 0
				odd += rows[k-1][j] * rows[k][j] / float64(len(neighbours[j]))
			}
			for _, j := range next {
				even += rows[k][j] * rows[k][j] / float64(len(neighbours[j]))
			}
			degree := float64(len(neighbours[from]))
			out[from*steps+2*k-2], out[from*steps+2*k-1] = float32(odd*degree), float32(even*degree)
			for _, j := range reached {
				rows[k-1][j] = 0
			}
			reached = next
		}
		for _, j := range reached {
			rows[len(rows)-1][j] = 0
		}
		return visits
	}
	empty := func() [][]float64 {
		rows := make([][]float64, 1+steps/2)
		for k := range rows {
			rows[k] = make([]float64, g.NumNodes)
		}
		return rows
	}
	const sample = 64
	rows, visits, step := empty(), 0.0, max(1, g.NumNodes/sample)
	for i := 0; i < g.NumNodes; i += step {
		if len(neighbours[i]) > 0 {
			visits += walk(rows, i) * float64(step)
		}
	}
	if visits > maxVisits {
		return fmt.Errorf("random walks of %d steps would pass along about %.0e edges, more than the limit of %.0e: "+
			"choose --structure degree or laplacian", steps, visits, maxVisits)
	}
	parallel(g.NumNodes, func(from, to int) {
		rows := empty()
		for i := from; i < to; i++ {
			if len(neighbours[i]) > 0 {
				walk(rows, i)
			}
		}
	})
	return nil
}

// parallel calls f for parts of 0 … n-1, one for each processor.
func parallel(n int, f func(from, to int)) {
	var wait sync.WaitGroup
	parts := min(n, runtime.GOMAXPROCS(0))
	for k := range parts {
		wait.Go(func() { f(k*n/parts, (k+1)*n/parts) })
	}
	wait.Wait()
}

// laplacian returns k eigenvectors, see [Prepared.structure], or zeros where there are fewer. They are found as those
// of M = D^-1/2 A D^-1/2 with the largest eigenvalues, orthogonal to those of the eigenvalue 1, which are known: one
// for each connected component, with the entries sqrt(degree).
//
// The method is subspace iteration with a Chebyshev filter (Zhou, Saad et al. 2006, "Self-consistent-field calculations
// using Chebyshev-filtered subspace iteration"), from random vectors of a fixed seed.
func (g *Graph) laplacian(k int) ([][]float64, error) {
	n, neighbours, component := g.NumNodes, g.Neighbours(), g.components()
	root := make([]float64, n)
	volume := make([]float64, n) // by component
	count := 0
	for i := range root {
		root[i] = math.Sqrt(float64(len(neighbours[i])))
		volume[component[i]] += float64(len(neighbours[i]))
		if component[i] == int32(i) {
			count++
		}
	}
	project := func(v []float64) {
		sums := make([]float64, n)
		for i, x := range v {
			sums[component[i]] += root[i] * x
		}
		for i := range v {
			if c := component[i]; volume[c] == 0 {
				v[i] = 0
			} else {
				v[i] -= root[i] * sums[c] / volume[c]
			}
		}
	}
	// apply is out = a M v + b v + c out.
	apply := func(out, v, buffer []float64, a, b, c float64) {
		for i, x := range v {
			if buffer[i] = 0; root[i] > 0 {
				buffer[i] = x / root[i]
			}
		}
		for i, x := range v {
			sum := 0.0
			for _, j := range neighbours[i] {
				sum += buffer[j]
			}
			if root[i] > 0 {
				sum /= root[i]
			}
			out[i] = a*sum + b*x + c*out[i]
		}
	}
	out := make([][]float64, k)
	for j := range out {
		out[j] = make([]float64, n)
	}
	width := min(2*k, n-count)
	if width == 0 {
		return out, nil
	}
	rng := rand.New(rand.NewPCG(1, 2))
	block, images := make([][]float64, width), make([][]float64, width)
	random := func(v []float64) {
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		project(v)
	}
	for j := range block {
		block[j], images[j] = make([]float64, n), make([]float64, n)
		random(block[j])
	}
	for passes := 0.0; ; {
		orthonormalise(block, random)
		parallel(width, func(from, to int) {
			buffer := make([]float64, n)
			for j := from; j < to; j++ {
				apply(images[j], block[j], buffer, 1, 0, 0)
			}
		})
		// Rayleigh and Ritz: the eigenvectors of M within the block, by descending eigenvalues.
		inner := mat.NewSymDense(width, nil)
		for i := range width {
			for j := i; j < width; j++ {
				inner.SetSym(i, j, floats.Dot(block[i], images[j]))
			}
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(inner, true) {
			return nil, errors.New("its Laplacian has no eigenvectors that can be computed: choose --structure degree")
		}
		var turn mat.Dense
		eigen.VectorsTo(&turn)
		values := eigen.Values(nil)
		slices.Reverse(values)
		block, images = rotated(block, &turn), rotated(images, &turn)
		lowest := values[width-1]
		const precise = 1e-5
		done := width == n-count // the block is the whole space
		if !done {
			done = true
			for j := range min(k, width) {
				residual := slices.Clone(images[j])
				floats.AddScaled(residual, -values[j], block[j])
				done = done && floats.Norm(residual, 2) <= precise*(1-lowest)
			}
		}
		if done {
			break
		}
		// The filter is a Chebyshev polynomial of M, large above [-1, lowest] and within ±1 there. If it were larger
		// than 1e8 at the highest eigenvalue, columns would be the same but for rounding; larger than 1e12 at 1, what is
		// projected away would come back by rounding.
		const degrees = 200
		half, middle := (lowest+1)/2, (lowest-1)/2
		least := func(limit, at float64) float64 {
			return math.Acosh(limit) / math.Acosh(max(1+1e-12, (at-middle)/half))
		}
		degree := max(4, int(min(degrees, least(1e8, values[0]), least(1e12, 1))))
		if passes += float64(degree*width) * float64(2*len(g.Edges)+n); passes > maxVisits {
			return nil, fmt.Errorf("the eigenvectors of its Laplacian are too close to one another to be computed in "+
				"%.0e passes along edges: choose --structure random-walk or degree", maxVisits)
		}
		parallel(width, func(from, to int) {
			buffer := make([]float64, n)
			for j := from; j < to; j++ {
				before, now := block[j], images[j]
				apply(now, before, buffer, 1/half, -middle/half, 0)
				for range degree - 1 {
					apply(before, now, buffer, 2/half, -2*middle/half, -1)
					before, now = now, before
				}
				project(now)
				block[j], images[j] = now, before
			}
		})
	}
	for j := range min(k, width) {
		v := block[j]
		top := 0.0
		for _, x := range v {
			top = max(top, math.Abs(x))
		}
		const close = 1 - 1e-6 // entries that are equal but for rounding
		first := v[slices.IndexFunc(v, func(x float64) bool { return math.Abs(x) >= close*top })]
		floats.Scale(math.Copysign(math.Sqrt(float64(n))/floats.Norm(v, 2), first), v)
		out[j] = v
	}
	return out, nil
}

// orthonormalise is Gram and Schmidt's method, twice against rounding. A column that depends on earlier ones is drawn
// again.
func orthonormalise(columns [][]float64, draw func([]float64)) {
	for j, v := range columns {
		for range 3 {
			before := floats.Norm(v, 2)
			for range 2 {
				for _, u := range columns[:j] {
					floats.AddScaled(v, -floats.Dot(u, v), u)
				}
			}
			if norm := floats.Norm(v, 2); norm > 1e-12*before && norm > 0 {
				floats.Scale(1/norm, v)
				break
			}
			draw(v)
		}
	}
}

// rotated are the products of columns with a matrix's columns, the last first.
func rotated(columns [][]float64, by *mat.Dense) [][]float64 {
	out := make([][]float64, len(columns))
	parallel(len(out), func(from, to int) {
		for j := from; j < to; j++ {
			out[j] = make([]float64, len(columns[0]))
			for i, v := range columns {
				floats.AddScaled(out[j], by.At(i, len(columns)-1-j), v)
			}
		}
	})
	return out
}

// components are the connected components, by their first nodes.
func (g *Graph) components() []int32 {
	parent := make([]int32, g.NumNodes)
	for i := range parent {
		parent[i] = int32(i)
	}
	root := func(i int32) int32 {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for _, e := range g.Edges {
		a, b := root(e[0]), root(e[1])
		parent[max(a, b)] = min(a, b)
	}
	for i := range parent {
		parent[i] = root(int32(i))
	}
	return parent
}
