// Package npz reads and writes NumPy's files of arrays: an .npz file is a zip archive of .npy files, each of which is
// one array (numpy.lib.format, versions 1 to 3).
//
// Only plain numbers and bool can be read, and only sizes far below a laptop's memory. A damaged file, or one made to
// do harm, therefore ends in an error that names the array, and not in a large allocation or a panic. Pickled objects
// are never read.
package npz
