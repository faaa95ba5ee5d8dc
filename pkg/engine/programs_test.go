package engine_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
)

// TestPrograms compiles a program, loads it as a kept program, and checks that it is compiled again after its file was
// damaged.
func TestPrograms(t *testing.T) {
	if engine.Plugins()["cpu"] == "" {
		t.Skip("needs the XLA CPU plugin: revgnn install-plugin")
	}
	e, err := engine.Open(engine.CPU)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "programs")
	t.Setenv(engine.Programs, dir)
	long := time.Now().Add(-time.Hour)
	run := func() (content []byte, used bool) {
		t.Helper()
		exec, err := NewExec(e.Backend, func(x *Node) *Node { return Mul(Add(x, x), x) })
		if err != nil {
			t.Fatal(err)
		}
		defer exec.Finalize()
		out, err := exec.Call(tensors.FromFlatDataAndDimensions([]float32{1, 2, 3}, 3))
		if err != nil {
			t.Fatal(err)
		}
		if got := tensors.MustCopyFlatData[float32](out[0]); got[0] != 2 || got[1] != 8 || got[2] != 18 {
			t.Fatalf("got %v, want [2 8 18]", got)
		}
		// The folder has a file for each kept program, and a file with the name "key". The pattern matches only names
		// of at least eight characters. It thus matches the programs, but not the file "key".
		found, err := filepath.Glob(filepath.Join(dir, "????????*"))
		if err != nil || len(found) != 1 {
			t.Fatalf("the folder holds %v, %v; want one program", found, err)
		}
		info, err := os.Stat(found[0])
		if err != nil {
			t.Fatal(err)
		}
		if content, err = os.ReadFile(found[0]); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(found[0], long, long); err != nil {
			t.Fatal(err)
		}
		return content, info.ModTime().After(long.Add(time.Minute))
	}
	first, _ := run()
	if again, used := run(); !used || !bytes.Equal(again, first) {
		t.Errorf("the program was not taken from the folder (file touched: %v)", used)
	}
	found, _ := filepath.Glob(filepath.Join(dir, "????????*"))
	var told []string
	engine.OnRefusal(func(err error) { told = append(told, err.Error()) })
	defer engine.OnRefusal(nil)
	for name, damaged := range map[string][]byte{"cut short": first[:len(first)/2], "empty": nil,
		"changed": append(bytes.Clone(first[:len(first)-1]), first[len(first)-1]+1)} {
		if err := os.WriteFile(found[0], damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if mended, _ := run(); len(mended) < len(first)/2 || bytes.Equal(mended, damaged) {
			t.Errorf("%s: the damaged program was not replaced", name)
		}
	}
	if len(told) != 1 || !strings.Contains(told[0], "compiled anew") {
		t.Errorf("of the damaged programs it was told: %q, want one sentence", told)
	}
}
