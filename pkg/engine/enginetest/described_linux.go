//go:build linux && cgo

package enginetest

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/revgnn/revgnn/pkg/engine"
)

//go:embed *.txtpb
var gpus embed.FS

// Describe opens an engine for a GPU (h100, a100 or rtx4090) that need not be there, with the plugin in [Plugin], as
// [engine.Describe] does.
func Describe(gpu, program string) (*engine.Described, error) {
	target, err := gpus.ReadFile(gpu + ".txtpb")
	if err != nil {
		return nil, err
	}
	site := os.Getenv(Plugin)
	found, err := filepath.Glob(filepath.Join(site, "jax_plugins/xla_cuda1[23]/xla_cuda_plugin.so"))
	if len(found) != 1 {
		return nil, errors.Join(err, fmt.Errorf("%s is %q, which has no CUDA plugin of XLA", Plugin, site))
	}
	return engine.Describe(found[0], string(target), program)
}

// described opens the engine on which tests show that their programs compile for an H100, and that the layout for GPUs
// computes the same: they run on the CPU.
func described() (*engine.Engine, error) {
	d, err := Describe("h100", "")
	if err != nil {
		return nil, err
	}
	d.Runs = true
	return d.Engine, nil
}
