package solve

// Euler is the explicit Euler method, of order 1. A step of size h from the state x at time t leads to x + h f(t, x).
func Euler() Method {
	return Method{Name: "euler", Order: 1, C: []float64{0}, A: [][]float64{{0}}, B: []float64{1}}
}
