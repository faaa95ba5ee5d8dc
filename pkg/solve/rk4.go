package solve

// RK4 is the classical Runge-Kutta method of order 4 (Kutta 1901; Hairer, Nørsett and Wanner, Solving Ordinary
// Differential Equations I, table II.1.2).
//
// The "rk4" of the authors' code is another method of Kutta, the 3/8 rule. For fields f(x) = M x with a fixed linear
// operator M, such as GRAND's, both methods give the same result up to rounding. The reason is that a step of size h
// multiplies x by a polynomial in h M. This polynomial is the same for all methods of order 4 with 4 stages.
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
