// Package npz reads and writes NumPy's array files: .npz, a zip archive, of .npy arrays
// (numpy.lib.format, versions 1 to 3).
//
// Reading is restricted to plain numbers and bool, and to sizes far below what would exhaust a laptop's
// memory: a damaged or hostile file ends in an error that names the array, and not in an allocation or a
// panic. Pickled objects are never read.
package npz
