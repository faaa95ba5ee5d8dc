package datasets

import (
	"fmt"
	"math"
)

// Limits on numbers that a file states. Memory is allocated in proportion to these numbers, so that a wrong number
// could ask for too much memory. (The sizes of files have limits of their own.)
const (
	maxNodes   = 1 << 24
	maxClasses = 1 << 16
	maxSplits  = 1000
	maxDim     = math.MaxInt32 // rows or columns of a sparse matrix
)

func checkNodes(n int) error {
	if n > maxNodes {
		return fmt.Errorf("%d nodes are more than the limit of %d", n, maxNodes)
	}
	return nil
}

// refusal is a fault of a file. Parsers panic with it, and their entry returns it as an error ([returned]).
type refusal struct{ error }

func refuse(format string, args ...any) { panic(refusal{fmt.Errorf(format, args...)}) }

// returned turns a [refusal] into an error. A parser's entry defers it, with its named result.
func returned(err *error) {
	switch r := recover().(type) {
	case nil:
	case refusal:
		*err = r.error
	default:
		panic(r)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(refusal{err})
	}
	return v
}

// values are an array's, without its shape.
func values[T any](v []T, _ []int, err error) []T { return must(v, err) }
