package sparse_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/sparse"
)

func TestHostProduct(t *testing.T) {
	const rows, columns, width = 200, 70, 3
	a := directed(1, rows, columns, 900, 60)
	x := normal(rand.New(rand.NewPCG(1, 4)), columns*width)
	want, entries := make([]float32, rows*width), dense(a)
	for i := range rows {
		for j := range columns {
			for k := range width {
				want[i*width+k] += entries[i*columns+j] * x[j*width+k]
			}
		}
	}
	if off := farthest(a.Product(x, width), want); off > 1e-5 {
		t.Errorf("the product on the host is off by %g", off)
	}
}

// SecondNeighbours lists the pairs of nodes for which A² has an entry and A + I has none. Its argument is a function
// that gets the number of these pairs. If this function returns an error, SecondNeighbours returns the error.
func TestSecondNeighbours(t *testing.T) {
	for name, a := range map[string]*sparse.CSR{
		"random": sparse.Adjacency(random(2, 150, 200, 20)), "complete": sparse.Adjacency(complete(5)),
		"directed": directed(3, 100, 100, 200, 10), "empty": must(sparse.FromDense(make([]float32, 9), 3)),
	} {
		s, err := a.SecondNeighbours(func(int) error { return nil })
		if err != nil || s.Validate() != nil {
			t.Fatalf("%s: %v, %v", name, err, s.Validate())
		}
		n, is := a.Rows, dense(a)
		want := make([]float32, n*n)
		for i := range n {
			for j := range n {
				for k := range n {
					if is[i*n+k] != 0 && is[k*n+j] != 0 && is[i*n+j] == 0 && i != j {
						want[i*n+j] = 1
					}
				}
			}
		}
		if !slices.Equal(dense(s), want) || s.Symmetric() != a.Symmetric() {
			t.Errorf("%s: %v is not what A² and A say", name, dense(s))
		}
		refused := fmt.Sprintf("%d are too many", s.Entries())
		_, err = a.SecondNeighbours(func(n int) error { return errors.New(fmt.Sprint(n, " are too many")) })
		if err == nil || err.Error() != refused {
			t.Errorf("%s: refused with %v, want %q", name, err, refused)
		}
	}
	_, err := directed(3, 4, 5, 6, 0).SecondNeighbours(nil)
	if err == nil || !strings.Contains(err.Error(), "4 x 5") {
		t.Errorf("nodes of two sets: %v", err)
	}
}
