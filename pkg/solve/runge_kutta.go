package solve

// Dopri5 is the method of Dormand and Prince (1980) of order 5, which chooses its step sizes. Its last stage is the
// first one of the next step.
//
// The weights of the error estimate and of the state in the middle of a step are those of torchdiffeq, from Shampine,
// Some practical Runge-Kutta formulas (1986). The end time usually lies inside the last step: there, a polynomial of
// degree 4 interpolates the states at the beginning, in the middle and at the end, and the slopes at both ends.
func Dopri5() Method {
	m := Method{Name: "dopri5", Order: 5,
		C: []float64{0, 1. / 5, 3. / 10, 4. / 5, 8. / 9, 1, 1},
		A: [][]float64{
			{0, 0, 0, 0, 0, 0, 0},
			{1. / 5, 0, 0, 0, 0, 0, 0},
			{3. / 40, 9. / 40, 0, 0, 0, 0, 0},
			{44. / 45, -56. / 15, 32. / 9, 0, 0, 0, 0},
			{19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729, 0, 0, 0},
			{9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656, 0, 0},
			{35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84, 0},
		},
		B: []float64{35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84, 0},
	}
	other := []float64{1951. / 21600, 0, 22642. / 50085, 451. / 720, -12231. / 42400, 649. / 6300, 1. / 60}
	middle := []float64{6025192743. / 30085553152, 0, 51252292925. / 65400821598, -2691868925. / 45128329728,
		187940372067. / 1594534317056, -1776094331. / 19743644256, 11237099. / 235043384}
	m.Error = make([]float64, 7)
	m.Dense = make([][4]float64, 7)
	for i, b := range m.B {
		m.Error[i] = b - other[i]
		half := middle[i] / 2
		// Row i of Dense has the coefficients of the polynomial for k_i.
		var start, end float64
		switch i {
		case 0:
			start = 1
		case 6:
			end = 1
		}
		m.Dense[i] = [4]float64{start, end - 4*start - 5*b + 16*half,
			5*start - 3*end + 14*b - 32*half, 2*(end-start) - 8*b + 16*half}
	}
	return m
}

// Euler is the explicit Euler method, x + h f(t, x), of order 1.
func Euler() Method {
	return Method{Name: "euler", Order: 1, C: []float64{0}, A: [][]float64{{0}}, B: []float64{1}}
}

// RK4 is the classical Runge-Kutta method of order 4 (Kutta 1901; Hairer, Nørsett and Wanner, Solving Ordinary
// Differential Equations I, table II.1.2).
//
// The "rk4" of the authors' code is another one of Kutta's, the 3/8 rule. For fields M x with a fixed linear operator
// M, such as GRAND's, a step of both is the same polynomial in h M.
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
