package roofline

import "github.com/revgnn/revgnn/pkg/sparse"

// Kernel is one kind of computation in an epoch, such as the product X W.
type Kernel struct {
	Name string `json:"name"`
	// Operations is the number of floating-point operations in one execution. Bytes is the number of bytes that are
	// moved in one execution. Times is the number of executions in an epoch.
	Operations float64 `json:"operations"`
	Bytes      float64 `json:"bytes"`
	Times      float64 `json:"times"`
	// Seconds is the measured time of one execution, Least is the least time that the machine's rates allow, and
	// Fraction is Least / Seconds.
	Seconds  float64 `json:"seconds"`
	Least    float64 `json:"least_seconds"`
	Fraction float64 `json:"fraction"`

	work work
}

// Shape has the numbers from which the operations and bytes of the kernels are computed. Nodes is the number of nodes.
// Entries is the number of entries of Â. Features is the number of features of a node. Outputs is the number of columns
// of the model's result. Hidden is the width of the layers. Forward is the number of forward layers, and Reverse is the
// number of reverse layers.
type Shape struct {
	Nodes    int `json:"nodes"`
	Entries  int `json:"entries"`
	Features int `json:"features"`
	// FeatureEntries is the number of non-zero features of all nodes together, if the features are stored as a sparse
	// matrix. Otherwise FeatureEntries is 0.
	FeatureEntries int `json:"feature_entries"`
	Outputs        int `json:"outputs"`
	Hidden         int `json:"hidden"`
	Forward        int `json:"forward"`
	Reverse        int `json:"reverse"`
	// Solve is the mean number of iterations of a solve. Adjoint is the mean number of iterations of an adjoint solve.
	Solve   float64 `json:"solve"`
	Adjoint float64 `json:"adjoint"`
	// Kept is true if the reverse layers store their preactivations for the backward pass; see [solve.Keeps].
	Kept bool `json:"kept"`
}

// parameters is the number of parameters of encoder, layers (with shared weights) and head together.
func (s Shape) parameters() float64 {
	f, d, c := float64(s.Features), float64(s.Hidden), float64(s.Outputs)
	return (f+1)*d + d*d + d + (2*d+1)*c
}

// counts returns the kernels of an epoch. It computes Operations, Bytes and Times of each kernel by the formulas in the
// package's documentation.
func counts(s Shape) []Kernel {
	n, e, f, d, c := float64(s.Nodes), float64(s.Entries), float64(s.Features), float64(s.Hidden), float64(s.Outputs)
	forward, reverse, p := float64(s.Forward), float64(s.Reverse), s.parameters()
	evaluations := 4*forward + reverse*(s.Solve+1+s.Adjoint)
	products := evaluations
	if s.Kept {
		products -= reverse
	}
	encoder := Kernel{Name: "encoder", Operations: 4 * n * f * d, Bytes: 4 * (2*n*f + 2*n*d + 4*f*d), Times: 1}
	if z := float64(s.FeatureEntries); z > 0 {
		encoder.Operations, encoder.Bytes = 4*z*d, z*(8*d+16)+4*(2*n*d+4*f*d)
	}
	return []Kernel{
		{Name: "X W", Operations: 2 * n * d * d, Bytes: 4 * (2*n*d + d*d), Times: products},
		{Name: "Â X", Operations: 2 * e * d, Bytes: e*(4*d+8) + 4*n*d, Times: evaluations},
		{Name: "Xᵀ G", Operations: 2 * n * d * d, Bytes: 4 * (2*n*d + d*d), Times: forward + reverse},
		{Name: "iterate", Operations: 6 * n * d, Bytes: 16 * n * d, Times: reverse * s.Solve},
		{Name: "correct", Operations: 7 * n * d, Bytes: 24 * n * d, Times: reverse * s.Adjoint},
		{Name: "layer", Operations: 8 * n * d, Bytes: 20 * n * d, Times: 4 * reverse},
		encoder,
		{Name: "head", Operations: 12 * n * d * c, Bytes: 4 * (8*n*d + 4*n*c), Times: 1},
		{Name: "Adam", Operations: 12 * p, Bytes: 28 * p, Times: 1},
	}
}

// bound sets k.Least to the least time that the rates r allow, called t in the package's documentation.
func (k *Kernel) bound(r Rates) { k.Least = max(k.Operations/r.matrix(), k.Bytes/r.Near) }

// kernels returns the kernels of [counts], in the same order. Each has a [work], which is run to measure the kernel's
// time. m is the matrix Â. features is the sparse matrix of the features, or nil if they are a dense matrix.
func kernels(s Shape, m *sparse.Matrix, features *sparse.Matrix) []Kernel {
	n, d := s.Nodes, s.Hidden
	works := map[string]work{
		"X W":     product(n, d),
		"Â X":     neighbours(m, n, d),
		"Xᵀ G":    gradient(n, d),
		"iterate": iterate(n, d),
		"correct": correct(n, d),
		"layer":   layer(n, d),
		"encoder": encoder(n, s.Features, d),
		"head":    head(n, d, s.Outputs),
		"Adam":    adam(int(s.parameters())),
	}
	if features != nil {
		works["encoder"] = sparseEncoder(features, s.Features, d)
	}
	list := counts(s)
	for i := range list {
		list[i].work = works[list[i].Name]
	}
	return list
}
