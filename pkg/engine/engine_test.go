package engine

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpenByNameAndVariable(t *testing.T) {
	e, err := Open(Go)
	if err != nil {
		t.Fatal(err)
	}
	if e.Name != Go || e.Plugin != "" || e.Why == "" {
		t.Errorf("opened %+v", e)
	}
	t.Setenv(Variable, Go)
	again, err := Open("")
	if err != nil || again != e {
		t.Errorf("the engine named by %s is %v, %v; want the one opened before", Variable, again, err)
	}
}

func TestUnknownEngine(t *testing.T) {
	_, err := Open("tpu")
	if err == nil || !strings.Contains(err.Error(), "xla:cpu") || strings.Contains(err.Error(), "\n") {
		t.Errorf("want one sentence that lists the engines, got %v", err)
	}
	if _, err := Install(context.Background(), "tpu", func(string) {}); err == nil {
		t.Error("an unknown plugin was installed")
	}
}

func TestExtractChecksTheSum(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.whl")
	if err := os.WriteFile(broken, []byte("PK\x03\x04 cut short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := extract(broken, wheelMember, filepath.Join(dir, "out"), wheelSums["linux/amd64"]); err == nil {
		t.Error("a broken wheel was accepted")
	}
	const empty = "PK\x05\x06\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	if err := os.WriteFile(broken, []byte(empty), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := extract(broken, wheelMember, filepath.Join(dir, "out"), ""); err == nil ||
		!strings.Contains(err.Error(), wheelMember) {
		t.Errorf("a wheel without the plugin: %v", err)
	}
}
