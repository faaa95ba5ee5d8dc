// Package npz reads and writes NumPy's files of arrays. An .npz file is a zip archive of .npy files, and each .npy file
// is one array. Versions 1 to 3 of the .npy format can be read (NumPy's documentation describes them at
// numpy.lib.format).
//
// An entry is one .npy file in an archive. The archive's directory is a list of all entries; it stands at the end of
// the archive. An array's header is the text at the beginning of its .npy file, which states the type and the shape. In
// C order the values of a matrix are stored row by row, and in Fortran order column by column.
//
// Only arrays of plain numbers and of bool can be read. The sizes of arrays are limited, far below a laptop's memory. A
// damaged file, or a file made to do harm, therefore gives an error that names the array. It causes neither a large
// allocation nor a panic. Pickled Python objects are never read.
package npz
