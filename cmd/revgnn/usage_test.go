package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
)

const tinyGraph = "minesweeper-generated:rows=12,cols=12"

// quick are arguments for a small model, which even the pure-Go engine trains quickly.
var quick = quickly("gcn+rep")

// quickly returns arguments for a small variant of the given model, which even the pure-Go engine trains quickly. The
// numbers of forward and reverse layers are 2, if the model has these settings.
func quickly(model string) []string {
	args := []string{"--engine", "go", "--model", model, "--hidden", "8"}
	for _, name := range []string{"forward", "reverse"} {
		if train.Default(model).Value(name) != nil {
			args = append(args, "--"+name, "2")
		}
	}
	return args
}

func with(args []string, more ...string) []string {
	return append(append([]string{}, args...), more...)
}

func TestWrongUsage(t *testing.T) {
	train := []string{"train", "--dataset", tinyGraph}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"no command given", nil},
		{"unknown command 'revgnn trian': did you mean train?", []string{"trian"}},
		{"unknown command 'revgnn zzz': choose one of doctor,", []string{"zzz"}},
		{"unknown command 'revgnn datasets gte'", []string{"datasets", "gte"}},
		{"no command given", []string{"datasets"}},
		{"no flag --foo", []string{"--foo"}},
		{"no flag --foo", with(train, "--foo", "1")},
		{"no flag -x", with(train, "-x")},
		{"--epochs needs a value", with(train, "--epochs")},
		{`--epochs is "many": it must be a whole number`, with(train, "--epochs", "many")},
		{`--lr is "fast": it must be a number`, with(train, "--lr", "fast")},
		{`--seed is "-1"`, with(train, "--seed", "-1")},
		{`--json is "perhaps"`, with(train, "--json=perhaps")},
		{"no dataset given", []string{"train"}},
		{`no argument such as "cora"`, []string{"train", "cora"}},
		{`no argument such as "now"`, []string{"doctor", "now"}},
		{`unknown dataset "mine"; did you mean`, []string{"train", "--dataset", "mine"}},
		{`unknown dataset "zzz"`, []string{"bench", "--dataset", "zzz"}},
		{`unknown dataset "zzz"`, []string{"datasets", "stats", "zzz"}},
		{`unknown dataset "zzz"`, []string{"datasets", "get", "zzz"}},
		{`unknown dataset "zzz"`, []string{"datasets", "verify", "cora", "zzz"}},
		{"needs names", []string{"datasets", "get"}},
		{"unknown setting", []string{"datasets", "stats", "minesweeper-generated:size=3"}},
		{"needs at least one", []string{"train", "--dataset", "minesweeper-generated:rows=0"}},
		{`unknown model "gnn"`, with(train, "--model", "gnn")},
		{`unknown engine "tpu"`, with(train, "--engine", "tpu")},
		{"lipschitz is 1", with(train, "--lipschitz", "1")},
		{"lipschitz is NaN", with(train, "--lipschitz", "NaN")},
		{"lr is +Inf", with(train, "--lr", "Inf")},
		{"epochs is 0", with(train, "--epochs", "0")},
		{"hidden is -3", with(train, "--hidden", "-3")},
		{"hidden is 1000000", with(train, "--hidden", "1000000")},
		{`normalise is "maybe"`, with(train, "--normalise", "maybe")},
		{`adjoint is "none"`, with(train, "--adjoint", "none")},
		{`norm is "group"`, with(train, "--norm", "group")},
		{`splits "9-0"`, with(train, "--splits", "9-0")},
		{`splits "a"`, with(train, "--splits", "a")},
		{`splits "0-99999999999999999999"`, with(train, "--splits", "0-99999999999999999999")},
		{"1 stands there twice", with(train, "--splits", "0-2,1")},
		{"has no split 10: its splits are numbered 0 to 9", with(train, "--splits", "0-10")},
		{"--resume needs --out", with(train, "--resume")},
		{"checkpoint-every is 0s", with(train, "--checkpoint-every", "0s")},
		{"checkpoint-every is -1m0s", []string{"reproduce", "all", "--checkpoint-every", "-1m"}},
		{`--checkpoint-every is "5": it must be a time such as`, with(train, "--checkpoint-every", "5")},
		{"no weights given", []string{"predict", "--dataset", tinyGraph, "--out", "o.npz"}},
		{`--out is ""`, []string{"predict", "--dataset", tinyGraph, "--weights", "w.npz"}},
		{"has no reverse layers", []string{"invert", "--dataset", tinyGraph, "--model", "gcn"}},
		{"a benchmark needs 2", []string{"bench", "--dataset", tinyGraph, "--epochs", "1"}},
		{`unknown plugin "tpu"`, []string{"install-plugin", "tpu"}},
		{`unknown plugin "cpu cuda"`, []string{"install-plugin", "cpu", "cuda"}},
	} {
		o := fails(t, 2, c.want, c.args...)
		if o.stdout != "" {
			t.Errorf("%q: stdout has %q", c.args, o.stdout)
		}
	}
}

// TestErrorsAsJSON checks that stdout has exactly one JSON document if a command with --json fails.
func TestErrorsAsJSON(t *testing.T) {
	for code, args := range map[int][]string{2: {"train", "--nonsense", "--json"},
		1: {"datasets", "stats", "no/such/folder", "--json"}} {
		var d struct{ Error string }
		fails(t, code, "", args...).document(t, &d)
		if d.Error == "" {
			t.Errorf("%q: no error in the document", args)
		}
	}
}

func TestHelpAndVersion(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"help"}, {"help", "train"}, {"train", "--help"},
		{"datasets", "stats", "-h"}, {"version"}} {
		if o := succeeds(t, args...); o.stdout == "" || o.stderr != "" {
			t.Errorf("%q: %q, %q", args, o.stdout, o.stderr)
		}
	}
	help := succeeds(t, "train", "--help").stdout
	for _, flag := range []string{"forward", "reverse", "hidden", "dropout", "lr", "weight-decay", "lipschitz",
		"normalise", "tolerance", "max-iterations", "adjoint", "norm", "head-layers", "no-bias", "block-gate",
		"block-norm", "epochs", "patience", "splits", "seed", "out", "resume", "checkpoint-every", "engine", "data",
		"json", "quiet"} {
		if !strings.Contains(help, "--"+flag+" ") {
			t.Errorf("train --help lacks --%s", flag)
		}
	}
	var v map[string]string
	succeeds(t, "version", "--json").document(t, &v)
	if v["version"] == "" || v["go"] == "" {
		t.Errorf("got %v", v)
	}
}

func TestDoctor(t *testing.T) {
	dir := t.TempDir()
	type report struct {
		Engine, Why, Data, Error string
		Cores                    int
		Memory                   int64 `json:"memory_bytes"`
		Free                     int64 `json:"free_memory_bytes"`
		Datasets                 []string
	}
	var r report
	succeeds(t, "doctor", "--engine", "go", "--data", dir, "--json").document(t, &r)
	if r.Engine != "go" || r.Why == "" || r.Data != dir || r.Cores < 1 || len(r.Datasets) != 1 || r.Error != "" {
		t.Errorf("got %+v", r)
	}
	if _, err := os.Stat("/proc/meminfo"); err == nil && (r.Free <= 0 || r.Memory < r.Free) {
		t.Errorf("memory %d, free %d", r.Memory, r.Free)
	}
	if text := succeeds(t, "doctor", "--engine", "go").stdout; !strings.Contains(text, "data directory") {
		t.Errorf("got %s", text)
	}
	// If the engine cannot be opened, doctor must still report everything else.
	c := command(t, "doctor", "--engine", "cuda", "--json")
	c.Env = append(c.Env, "PJRT_PLUGIN_LIBRARY_PATH="+dir)
	o := finish(t, c)
	r = report{}
	o.document(t, &r)
	if o.code != 1 || !strings.Contains(r.Error, "has no plugin in") || r.Cores < 1 {
		t.Errorf("exit status %d, %+v", o.code, r)
	}
}

func TestInstallPluginOffline(t *testing.T) {
	dir := t.TempDir()
	c := command(t, "install-plugin", "cpu", "--offline")
	c.Env = append(c.Env, "PJRT_PLUGIN_LIBRARY_PATH="+dir, "HOME="+dir)
	if o := finish(t, c); o.code != 1 || !strings.Contains(o.stderr, "offline mode forbids") {
		t.Errorf("exit status %d: %s", o.code, o.stderr)
	}
	empty(t, dir)
}

func TestUnknownEngineFromTheEnvironment(t *testing.T) {
	c := command(t, "train", "--dataset", tinyGraph)
	c.Env = append(c.Env, "REVGNN_ENGINE=abacus")
	if o := finish(t, c); o.code != 2 || !strings.Contains(o.stderr, "REVGNN_ENGINE") {
		t.Errorf("exit status %d: %s", o.code, o.stderr)
	}
}

func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full: a full disk is not tested here")
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	c := command(t, "version", "--json")
	var text strings.Builder
	c.Stdout, c.Stderr = full, &text
	c.Run()
	if c.ProcessState.ExitCode() != 1 || !strings.Contains(text.String(), "cannot be written") {
		t.Errorf("exit status %d: %s", c.ProcessState.ExitCode(), text.String())
	}
}

// writeFile writes a file into a new folder, and returns the path of the file.
func writeFile(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFlagsAreReserved checks that no model can have a setting of its own with the name of a command's flag, such as
// "out". All these names must be reserved ([models.Reserved]).
func TestFlagsAreReserved(t *testing.T) {
	a := &app{stdout: io.Discard, stderr: io.Discard}
	offered := map[string]bool{}
	for _, model := range models.Names() {
		for _, s := range train.Default(model).Settings() {
			offered[s.Name] = true
		}
	}
	for _, c := range []*cobra.Command{a.train(), a.bench(), a.invert(), a.predict(), a.search(), a.root()} {
		for _, flags := range []*pflag.FlagSet{c.Flags(), c.PersistentFlags()} {
			flags.VisitAll(func(f *pflag.Flag) {
				if !offered[f.Name] && !models.Reserved(f.Name) {
					t.Errorf("a model could have a setting --%s, which is a flag of %s", f.Name, c.Name())
				}
			})
		}
	}
}
