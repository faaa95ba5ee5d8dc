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
)

// TestHugePages counts the pages that a program with four blocks of 64 MiB is given: 65 536 of 4 KiB, or 128 of 2 MiB.
func TestHugePages(t *testing.T) {
	e := enginetest.Open(t, engine.CPU)
	enabled, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if err != nil || strings.Contains(string(enabled), "[never]") {
		t.Skip("the kernel has no huge pages for programs: /sys/kernel/mm/transparent_hugepage/enabled")
	}
	exec, err := NewExec(e.Backend, func(x *Node) *Node {
		big := BroadcastToDims(x, 16<<20)
		out := loop.Repeat(loop.Int(x.Graph(), 2), []*Node{big, big}, nil, func(_ *Node, s, _ []*Node) []*Node { return []*Node{s[1], Add(s[0], s[1])} })
		return ReduceAllSum(out[1])
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	faults := func() int64 {
		var before, after syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &before); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Call(tensors.FromFlatDataAndDimensions([]float32{1}, 1))
		if err != nil {
			t.Fatal(err)
		}
		tensors.ToScalar[float32](out[0])
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &after); err != nil {
			t.Fatal(err)
		}
		return after.Minflt - before.Minflt
	}
	faults()
	if n := faults(); n > 8000 {
		t.Errorf("%d pages were faulted in, as if most were of 4 KiB", n)
	} else {
		t.Logf("%d pages were faulted in", n)
	}
}
