package roofline

import "github.com/revgnn/revgnn/pkg/engine"

// Rates are the rates of an engine, measured on this machine.
type Rates struct {
	// Large is the rate of a product of two 2048 x 2048 matrices. Own is the rate of a product of an [n, d] matrix and
	// a [d, d] matrix, as in training. Both are in operations per second.
	Large float64 `json:"large_matrix"`
	Own   float64 `json:"own_matrix"`
	// Memory is the rate of computing a = a/2 + b for arrays a and b that are far larger than the caches. Near is the
	// rate of the same computation for arrays of shape [n, d], as in training. Both are in bytes per second. Only Near
	// is used for the least times of kernels.
	Memory float64 `json:"memory"`
	Near   float64 `json:"near"`
}

const (
	largeMatrix = 2048
	// largeArray is the number of values in each of the two arrays with which Memory is measured. Each array takes 256
	// MiB, more than any cache.
	largeArray = 1 << 26
)

// matrix is the matrix rate from which the least times of kernels are computed: the higher one of Large and Own.
func (r Rates) matrix() float64 { return max(r.Large, r.Own) }

// MeasureRates measures the rates of an engine for training with n nodes and width d. It takes some seconds.
func MeasureRates(e *engine.Engine, n, d int) (r Rates, err error) {
	for _, m := range []struct {
		into          *float64
		rows, columns int
	}{{&r.Large, largeMatrix, largeMatrix}, {&r.Own, n, d}} {
		t, err := perRepetition(e, product(m.rows, m.columns))
		if err != nil {
			return r, err
		}
		*m.into = 2 * float64(m.rows) * float64(m.columns) * float64(m.columns) / t
	}
	for _, m := range []struct {
		into          *float64
		rows, columns int
	}{{&r.Memory, largeArray / 256, 256}, {&r.Near, n, d}} {
		t, err := perRepetition(e, triad(m.rows, m.columns))
		if err != nil {
			return r, err
		}
		*m.into = 12 * float64(m.rows) * float64(m.columns) / t
	}
	return r, nil
}
