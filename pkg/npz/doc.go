// Package npz reads and writes NumPy's files of arrays. An .npz file is a zip archive of .npy files, and each .npy file
// is one array. Versions 1 to 3 of the .npy format can be read (numpy.lib.format).
//
// An entry is one .npy file in an archive. The archive's directory is the list of all entries; it stands at the
// archive's end. An array's header is the text at the beginning of its .npy file, which states the type and the shape.
// C order stores the values of a matrix row by row, and Fortran order column by column.
//
// Only arrays of plain numbers and bool can be read, and the sizes of arrays are limited. A damaged file, or a file
// made to do harm, therefore gives an error that names the array, and not a large allocation or a panic. Pickled Python
// objects are never read.
package npz
