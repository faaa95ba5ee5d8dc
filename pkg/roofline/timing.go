package roofline

import (
	"fmt"
	"time"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
)

const (
	// span is the least time that all repetitions of one measurement take together. tries is how often each measurement
	// is made. Only the fastest measurement is used, since other programs on the machine can slow a measurement down,
	// but cannot speed it up.
	span  = 200 * time.Millisecond
	tries = 3
	// most is the largest number of repetitions in a measurement. If a kernel takes less than about 0.75 microseconds,
	// this number of repetitions takes less than 200 ms (the constant span). The kernel is measured all the same.
	most = 1 << 18
)

// perRepetition is the time in seconds of one repetition of w in a loop on the engine. It is computed from the times of
// two loops, one with many repetitions and one with a single repetition. The difference of the two times is divided by
// the difference of the numbers of repetitions. So the time to start a loop and to copy its arrays is not counted.
func perRepetition(e *engine.Engine, w work) (float64, error) {
	c, err := newClock(e, w)
	if err != nil {
		return 0, err
	}
	defer c.exec.Finalize()
	if _, err := c.run(1); err != nil { // The first run also compiles the loop, and is not timed.
		return 0, err
	}
	one, err := c.fastest(1)
	if err != nil {
		return 0, err
	}
	times, err := c.enough(one)
	if err != nil {
		return 0, err
	}
	many, err := c.fastest(times)
	if err != nil {
		return 0, err
	}
	if many <= one {
		return 0, fmt.Errorf("the clock cannot tell %d repetitions of a kernel from one: "+
			"measure again on a quieter machine", times)
	}
	return (many - one).Seconds() / float64(times-1), nil
}

// clock measures how long a kernel takes. It has the compiled loop that repeats the kernel (see [work]), and the arrays
// that are passed to this loop. engine is the name of the engine, for error messages.
type clock struct {
	engine string
	exec   *Exec
	arrays []any
}

func newClock(e *engine.Engine, w work) (*clock, error) {
	exec, err := NewExec(e.Backend, func(in []*Node) *Node { return w.loop(in[0], in[1:]) })
	if err != nil {
		return nil, fmt.Errorf("a kernel cannot be built: %w", err)
	}
	c := &clock{engine: e.Name, exec: exec}
	for _, t := range w.arrays {
		c.arrays = append(c.arrays, t)
	}
	return c, nil
}

// run measures the time of one run of the loop with the given number of repetitions.
func (c *clock) run(times int) (time.Duration, error) {
	args := append([]any{tensors.FromScalar(int32(times))}, c.arrays...)
	start := time.Now()
	out, err := c.exec.Call(args...)
	if err != nil {
		return 0, fmt.Errorf("a kernel failed on %s: %w", c.engine, err)
	}
	_, err = tensors.CopyFlatData[float32](out[0]) // CopyFlatData waits until the engine has finished.
	took := time.Since(start)
	out[0].MustFinalizeAll()
	return took, err
}

// fastest is the shortest time of three runs (the constant tries) of the loop with the given number of repetitions.
func (c *clock) fastest(times int) (best time.Duration, err error) {
	for i := range tries {
		took, err := c.run(times)
		if err != nil {
			return 0, err
		}
		if i == 0 || took < best {
			best = took
		}
	}
	return best, nil
}

// enough finds a number of repetitions for a measurement. With this number, the loop takes at least 200 ms (the
// constant span) longer than with one repetition. If even the largest allowed number (the constant most) takes less,
// enough returns the largest allowed number. The argument is the time of the loop with one repetition.
func (c *clock) enough(one time.Duration) (times int, err error) {
	for times = 2; ; {
		took, err := c.run(times)
		if err != nil {
			return 0, err
		}
		more := took - one
		if more >= span || times >= most {
			return times, nil
		}
		grown := float64(times) * float64(span) / float64(max(more, span/100))
		times = min(most, max(2*times, int(grown)))
	}
}
