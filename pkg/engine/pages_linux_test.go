//go:build linux && cgo

package engine_test

import (
	"os"
	"strings"
	"syscall"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/machine"
)

// Of a program's working memory, here 256 MiB, only the first step faults in pages, of 2 MiB where the system has them; a
// program of another size has it given back.
func TestWorkingMemory(t *testing.T) {
	e := enginetest.Open(t, engine.CPU)
	program := func(size int) (step func()) {
		exec, err := NewExec(e.Backend, func(x *Node) *Node {
			big := BroadcastToDims(x, size)
			out := loop.Repeat(loop.Int(x.Graph(), 2), []*Node{big, big}, nil, func(_ *Node, s, _ []*Node) []*Node { return []*Node{s[1], Add(s[0], s[1])} })
			return ReduceAllSum(out[1])
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(exec.Finalize)
		return func() {
			out, err := exec.Call(tensors.FromFlatDataAndDimensions([]float32{1}, 1))
			if err != nil {
				t.Fatal(err)
			}
			tensors.ToScalar[float32](out[0])
		}
	}
	faults := func(step func()) int64 {
		var before, after syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &before); err != nil {
			t.Fatal(err)
		}
		step()
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &after); err != nil {
			t.Fatal(err)
		}
		return after.Minflt - before.Minflt
	}
	large, small := program(16<<20), program(4<<20)
	large()
	if n := faults(large); n > 1000 {
		t.Errorf("the second step faulted in %d pages", n)
	}
	before := machine.Resident()
	small()
	if after := machine.Resident(); before-after < 100<<20 {
		t.Errorf("%d MiB are resident after a smaller program, %d before", after>>20, before>>20)
	}
	enabled, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if err != nil || strings.Contains(string(enabled), "[never]") {
		t.Skip("the kernel has no huge pages for programs: /sys/kernel/mm/transparent_hugepage/enabled")
	}
	if n := faults(large); n > 8000 {
		t.Errorf("%d pages were faulted in, as if most were of 4 KiB", n)
	}
}
