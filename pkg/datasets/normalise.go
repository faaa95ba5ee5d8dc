package datasets

// RowNormalise divides each row x of a row-major matrix with the given number of columns by max(1, Σ x), in place.
// Rows whose sum is at most 1, among them rows of zeros, stay as they are. This is what PyTorch Geometric's
// NormalizeFeatures does with features that are not negative, and what the paper's homophilic experiments read.
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
