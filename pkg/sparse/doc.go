// Package sparse is the graph's adjacency as a linear operator on GoMLX nodes: y = A x for a sparse symmetric A and dense
// features x, with its adjoint, on every engine.
//
// GoMLX has no sparse product, and scatters are slow and not deterministic. Here rows are sorted by degree and cut into
// buckets, and each bucket is an unrolled sum of weighted gathers, which XLA fuses into one vectorised loop ("sliced rows",
// after sliced ELLPACK: Monakov, Lokhmotov and Avetisyan, HiPEAC 2010). The cost is that of the entries, up to 25 % padding.
//
// A [Matrix] has weights that are known beforehand; [Structure] and [Edges] are patterns for weights that a model computes.
package sparse
