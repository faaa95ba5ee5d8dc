package datasets

// RowNormalise divides each row of a matrix by max(1, s), in place, where s is the sum of the row. Rows whose sum is at
// most 1, such as rows of zeros, therefore stay as they are. The slice x holds the rows one after the other, each with
// the given number of columns.
//
// The paper's experiments on homophilic datasets use features that are normalised in this way. NormalizeFeatures of
// PyTorch Geometric does the same if the smallest number in the matrix is 0.
func RowNormalise(x []float32, columns int) {
	if columns <= 0 {
		return
	}
	for ; len(x) >= columns; x = x[columns:] {
		sum := 0.0
		for _, v := range x[:columns] {
			sum += float64(v)
		}
		if sum <= 1 {
			continue
		}
		for i := range columns {
			x[i] = float32(float64(x[i]) / sum)
		}
	}
}
