// Package cuda tests, on a machine without a GPU, how the training steps of all models compile for NVIDIA's GPUs: how
// long it takes, how many kernels are launched for an iteration of a solver, and how much memory a step works in.
//
// XLA's CUDA plugin compiles for GPUs that are only described, by a text of XLA's GpuTargetConfigProto each; see
// [github.com/revgnn/revgnn/pkg/engine.Describe]. `make test-cuda` gets the plugin and runs the tests.
package cuda
