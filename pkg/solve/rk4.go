package solve

// RK4 is the classical Runge-Kutta method of order 4 (Kutta 1901; Hairer, Nørsett and Wanner, Solving Ordinary
// Differential Equations I, table II.1.2).
//
// The authors' "rk4" is Kutta's other method, the 3/8 rule. On linear autonomous fields, such as GRAND's, all methods
// of order 4 with 4 stages are the same polynomial of h f, so that both give the same result up to rounding.
func RK4() Method {
	return Method{Name: "rk4", Order: 4,
		C: []float64{0, 1. / 2, 1. / 2, 1},
		A: [][]float64{
			{0, 0, 0, 0},
			{1. / 2, 0, 0, 0},
			{0, 1. / 2, 0, 0},
			{0, 0, 1, 0},
		},
		B: []float64{1. / 6, 1. / 3, 1. / 3, 1. / 6},
	}
}
