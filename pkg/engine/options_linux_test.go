//go:build linux && cgo

package engine

import (
	"os"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// The test checks that XLA's compiler reads the options that revgnn passes with a graph: the compiler must accept an
// option that exists, and refuse one that does not exist.
func TestPluginReadsOptions(t *testing.T) {
	if Plugins()["cpu"] == "" && os.Getenv("REVGNN_TEST_XLA") == "" {
		t.Skip("needs the XLA CPU plugin: revgnn install-plugin")
	}
	e, err := Open(CPU)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(Programs, "off")
	ours := plugins[cpuPlugin].options
	defer func() { plugins[cpuPlugin].options = ours }()
	run := func(name string) error {
		plugins[cpuPlugin].options = option(name, number(512))
		exec, err := NewExec(e.Backend, func(x *Node) *Node { return Add(x, x) })
		if err != nil {
			return err
		}
		defer exec.Finalize()
		_, err = exec.Call(tensors.FromFlatDataAndDimensions([]float32{1, 2}, 2))
		return err
	}
	if err := run("xla_cpu_prefer_vector_width"); err != nil {
		t.Error(err)
	}
	if err := run("no_such_option"); err == nil || !strings.Contains(err.Error(), "no_such_option") {
		t.Errorf("an option that there is not: %v", err)
	}
}
