package solve

// Dopri5 is the method of Dormand and Prince (1980) of order 5. It estimates the error of each step, and chooses the
// step size so that the estimate stays below a tolerance. Its seventh and last stage is the first stage of the next
// step.
//
// The weights of the error estimate are those of torchdiffeq, which are from Shampine, Some practical Runge-Kutta
// formulas (1986). The weights for the state in the middle of a step have the same source. The middle state is needed
// since the end time of the integration usually lies inside the last step. To compute the state at this time, a
// polynomial of degree 4 interpolates the states at the beginning, in the middle and at the end of the step, and the
// slopes at its two ends.
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
		// Inside the step, the weight of the slope k_i is a polynomial of degree 4 (see the field Dense of [Method]).
		// Row i of Dense has the coefficients of this polynomial. They are chosen so that the weighted slopes give the
		// known states at the beginning, in the middle and at the end of the step, and the known slopes at its two
		// ends: k_0 at the beginning, and k_6 at the end.
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
