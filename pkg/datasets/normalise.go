package datasets

// RowNormalise divides each row of a matrix by max(1, Σ x), where Σ x is the row's sum, in place. The matrix x is
// row-major with the given number of columns. So rows whose sum is at most 1, such as rows of zeros, stay as they are.
// PyTorch Geometric's NormalizeFeatures does the same with features that are not negative, and the paper's homophilic
// experiments use features normalised in this way.
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
