package engine_test

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
)

// memory compiles a program that computes (XXᵀ)X, and returns the memory that a run of the program takes. The argument
// X has n rows and d columns in single precision. So X and the result take 4nd bytes each, and XXᵀ takes 4n² bytes of
// working memory.
func memory(t *testing.T, e *engine.Engine, n, d int) (engine.Memory, bool) {
	exec, err := NewExec(e.Backend, func(x *Node) *Node { return MatMul(MatMul(x, Transpose(x, 0, 1)), x) })
	if err != nil {
		t.Error(err)
		return engine.Memory{}, false
	}
	defer exec.Finalize()
	g, err := exec.Compile(shapes.Make(dtypes.Float32, n, d))
	if err != nil {
		t.Error(err)
		return engine.Memory{}, false
	}
	return engine.MemoryOf(g.Executable())
}

func TestMemoryOf(t *testing.T) {
	e := enginetest.Open(t, engine.CPU)
	t.Setenv(engine.Programs, filepath.Join(t.TempDir(), "programs"))
	const n, d = 1000, 64
	for _, when := range []string{"compiled", "kept"} {
		m, known := memory(t, e, n, d)
		if want := (engine.Memory{Arguments: 4 * n * d, Outputs: 4 * n * d, Temporary: 4 * n * n}); !known ||
			m != want {
			t.Errorf("the %s program takes %+v (known: %v), want %+v", when, m, known, want)
		}
		if want := int64(4 * n * (n + 2*d)); m.Total() != want {
			t.Errorf("the %s program takes %d bytes in all, want %d", when, m.Total(), want)
		}
	}
}

// The test has two rounds. In the first round, it compiles several programs at the same time. In the second round, the
// same programs are loaded from the folder of kept programs. In both rounds, MemoryOf must return for each program the
// memory of this program, and not of another.
func TestMemoryOfProgramsCompiledAtOnce(t *testing.T) {
	e := enginetest.Open(t, engine.CPU)
	t.Setenv(engine.Programs, filepath.Join(t.TempDir(), "programs"))
	for range 2 {
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				n := int64(300 + 100*i)
				if m, known := memory(t, e, int(n), 16); !known || m.Arguments != 4*n*16 || m.Temporary != 4*n*n {
					t.Errorf("with %d rows, a program takes %+v (known: %v)", n, m, known)
				}
			})
		}
		all.Wait()
	}
}

func TestMemoryNotKnown(t *testing.T) {
	if m, known := memory(t, enginetest.Open(t, engine.Go), 100, 4); known {
		t.Errorf("pure Go tells that a program takes %+v", m)
	}
	if _, known := engine.MemoryOf(nil); known {
		t.Error("the memory of no program is known")
	}
}
