package cuda

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/train"
)

func TestTry(t *testing.T) {
	site := os.Getenv("CUDA_SITE")
	target, _ := os.ReadFile("h100.txtpb")
	d, err := engine.Describe(site+"/jax_plugins/xla_cuda12/xla_cuda_plugin.so", site+"/nvidia/cuda_nvcc", string(target), "training step")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Split(os.Getenv("GRAPHS"), ",") {
		g, err := datasets.Load(context.Background(), name, datasets.Options{Dir: os.Getenv("REVGNN_DATA"), Offline: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range strings.Split(os.Getenv("MODELS"), ",") {
			c := train.Default(m)
			c.Model, c.Forward, c.Reverse, c.Epochs = m, 1, 8, 2
			_, err := train.Bench(context.Background(), d.Engine, g, c, nil)
			if !errors.Is(err, engine.ErrDescribed) {
				t.Errorf("%s %s: %v", name, m, err)
				continue
			}
			t.Logf("%s %s: %.1f s, CPU %.1f s, temporary %.1f MB", name, m, d.Last.Seconds, d.Last.CPUSeconds, float64(d.Last.Memory.Temporary)/1e6)
		}
	}
}
