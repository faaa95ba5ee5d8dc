// Package npz reads and writes NumPy's files of arrays. An .npz file is a zip archive of .npy files, and each .npy file
// is one array (numpy.lib.format, versions 1 to 3).
//
// An entry is one .npy file in an archive. The archive's directory is the list of all entries at its end. An array's
// header is the text at the beginning of its .npy file, which states the type and the shape.
//
// Only arrays of plain numbers and bool can be read, and only sizes far below a laptop's memory. A damaged file, or one
// made to do harm, therefore ends in an error that names the array, and not in a large allocation or a panic. Pickled
// objects are never read.
package npz
