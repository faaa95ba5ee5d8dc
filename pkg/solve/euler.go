package solve

// Euler is the explicit method x + h f(t, x) of order 1.
func Euler() Method {
	return Method{Name: "euler", Order: 1, C: []float64{0}, A: [][]float64{{0}}, B: []float64{1}}
}
