package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
)

// docs/upstream.md reports faults of GoMLX and its backends. The test checks that these faults still exist. If the test
// fails, a fault has been fixed, and the workaround for this fault can be removed.
func TestUpstreamStillNeedsWorkarounds(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for name, report := range reports {
			want := report.fails[e.Name]
			if want == "" {
				continue
			}
			err := execute(engine.Plain(e), report.program)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %q: see docs/upstream.md for what to drop", name, err, want)
			}
		}
	})
}

// reports has programs for the faults in items 1, 2, 3, 5 and 6 of docs/upstream.md. Each program fails on the engines
// that have the fault. (The fault in item 4 has a test of its own.)
var reports = map[string]struct {
	program func(x *Node) *Node
	// fails has, for each engine on which the program fails, a part of the error message.
	fails map[string]string
}{
	"a loop inside a loop": {
		func(x *Node) *Node {
			return repeat(x, func(x *Node) *Node { return repeat(x, func(x *Node) *Node { return Add(x, x) }) })
		},
		map[string]string{engine.CPU: "must be a closure of", engine.Go: "must be a closure of"},
	},
	"a broadcast in a loop": {
		func(x *Node) *Node {
			return repeat(x, func(x *Node) *Node {
				return Add(x, BroadcastToShape(Slice(x, AxisRange(0, 1)), x.Shape()))
			})
		},
		map[string]string{engine.Go: "not computed yet"},
	},
	"last results not needed": {
		func(x *Node) *Node { x = Add(x, x); return loop3(x, x, func(x *Node) *Node { return Add(x, x) }) },
		map[string]string{engine.Go: "index out of range"},
	},
	"a cached constant in a loop": {
		func(x *Node) *Node {
			return repeat(AddScalar(x, 1), func(x *Node) *Node { return AddScalar(x, 1) })
		},
		map[string]string{engine.CPU: "the operands are not part of the function"},
	},
	"a cached constant in two loops": {
		func(x *Node) *Node {
			plus := func(x *Node) *Node { return AddScalar(x, 1) }
			return repeat(repeat(x, plus), plus)
		},
		map[string]string{engine.CPU: "after returning", engine.Go: "a different function scope"},
	},
	"a reduction in a loop": {
		func(x *Node) *Node {
			return repeat(Add(x, ReduceAllSum(x)), func(x *Node) *Node {
				return Add(x, ReduceAndKeep(x, ReduceSum, 0))
			})
		},
		map[string]string{engine.CPU: "is not a StableHLO closure"},
	},
}

// repeat applies body three times to x.
func repeat(x *Node, body func(x *Node) *Node) *Node { return loop3(x, nil, body) }

// loop3 applies body three times to x, in a loop of the computation graph. The loop hands x and a counter from each
// round to the next. If more is not nil, the loop also hands on this value, without changing it. loop3 returns only the
// result for x.
func loop3(x, more *Node, body func(x *Node) *Node) *Node {
	state := []*Node{x, Const(x.Graph(), int32(0))}
	if more != nil {
		state = append(state, more)
	}
	parameters := func(g *Graph) (out []*Node) {
		for i, s := range state {
			out = append(out, Parameter(g, fmt.Sprint("s", i), s.Shape()))
		}
		return out
	}
	condition := NewClosure(x.Graph(), func(g *Graph) []*Node {
		return []*Node{LessThan(parameters(g)[1], Const(g, int32(3)))}
	})
	step := NewClosure(x.Graph(), func(g *Graph) []*Node {
		s := parameters(g)
		return append([]*Node{body(s[0]), Add(s[1], Const(g, int32(1)))}, s[2:]...)
	})
	return While(condition, step, state...)[0]
}

// execute builds a program and runs it on a vector of four numbers.
func execute(b compute.Backend, program func(x *Node) *Node) error {
	exec, err := NewExec(b, program)
	if err != nil {
		return err
	}
	_, err = exec.Call([]float32{0, 1, 2, 3})
	return err
}

// TestUpstreamNamesOfParameters checks that a fault of go-xla still exists (item 4 of docs/upstream.md). The test's
// program has a loop inside the body of another loop. The bodies of both loops have a parameter with the name x. go-xla
// translates the program into StableHLO, XLA's input language, and does not change these names. In StableHLO, the names
// in the outer body are visible in the inner body, and no name may be defined twice. So XLA refuses the program.
func TestUpstreamNamesOfParameters(t *testing.T) {
	b := engine.Plain(enginetest.Open(t, engine.CPU)).Builder("names")
	number := shapes.Make(dtypes.Float32)
	x := must(b.Main().Parameter("p", number, nil))
	var while func(f compute.Function, x compute.Value, limits ...float32) compute.Value
	while = func(f compute.Function, x compute.Value, limits ...float32) compute.Value {
		if len(limits) == 0 {
			return must(f.Add(x, x))
		}
		condition, body := must(f.Closure()), must(f.Closure())
		c, s := must(condition.Parameter("x", number, nil)), must(body.Parameter("x", number, nil))
		below := must(condition.LessThan(c, must(condition.Constant(limits[:1]))))
		must(0, condition.Return([]compute.Value{below}, nil))
		must(0, body.Return([]compute.Value{while(body, s, limits[1:]...)}, nil))
		return must(f.While(condition, body, x))[0]
	}
	must(0, b.Main().Return([]compute.Value{while(b.Main(), x, 100, 10)}, nil))
	if _, err := b.Compile(); err == nil || !strings.Contains(err.Error(), "redefinition") {
		t.Errorf("got %v, want names defined twice: see docs/upstream.md for what to drop", err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
