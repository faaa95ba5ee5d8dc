package datasets

// RowNormalise divides each row of a matrix by max(1, Σ x), in place, where Σ x is the row's sum. Rows whose sum is at
// most 1, such as rows of zeros, therefore stay as they are. x holds the rows one after the other, each with the given
// number of columns. PyTorch Geometric's NormalizeFeatures does the same with features that are not negative, and the
// paper's homophilic experiments use features normalised in this way.
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
