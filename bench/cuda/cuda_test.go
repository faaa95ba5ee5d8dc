package cuda

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
)

const record = "../../data/bench/cuda.json"

var renew = flag.Bool("renew", false, "write "+record+" anew")

// program is a model's training step on a graph, compiled for a GPU.
type program struct {
	GPU   string `json:"gpu"`
	Graph string `json:"graph"`
	Model string `json:"model"`
	// CPUSeconds are those of compiler and assembler together, with two such processes on two cores.
	CPUSeconds float64 `json:"cpu_seconds"`
	// Launches are the kernels and copies of an iteration of the innermost loop, the largest number of all such loops; 0
	// without loops.
	Launches int `json:"launches"`
	// Temporary is the working memory of a step in bytes.
	Temporary int64 `json:"temporary_bytes"`
}

// is tells whether two programs are of the same model on the same graph for the same GPU.
func (p program) is(b program) bool {
	return p.GPU == b.GPU && p.Graph == b.Graph && p.Model == b.Model
}

func (p program) String() string { return fmt.Sprintf("%s on %s for %s", p.Model, p.Graph, p.GPU) }

// A part is what one process compiles, since a process can describe one GPU.
type part struct{ GPU, Graph string }

// child names the environment variable with the part, as JSON, that a process of this test compiles.
const child = "REVGNN_TEST_CUDA_PART"

// TestSteps compiles the training steps of all models for an H100, and of three for other GPUs, with the default
// settings, one forward and eight reverse layers where there are any. Launches and memory must be those of the record
// or fewer; the compiler may take half as long again and two seconds, since machines differ and are shared.
func TestSteps(t *testing.T) {
	if os.Getenv(enginetest.Plugin) == "" {
		t.Skipf("%s names no folder with XLA's CUDA plugin: make test-cuda", enginetest.Plugin)
	}
	if text := os.Getenv(child); text != "" {
		var p part
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		p.compile(t)
		return
	}
	parts := []part{{"h100", "computers"}, {"h100", "tolokers"}, {"h100", "chameleon-filtered"}, {"h100", "minesweeper"},
		{"a100", "chameleon-filtered"}, {"rtx4090", "chameleon-filtered"}}
	made := make([][]program, len(parts))
	var group errgroup.Group
	group.SetLimit(2)
	for i, p := range parts { // the longest come first
		group.Go(func() (err error) {
			made[i], err = p.start()
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
	all := slices.Concat(made...)
	var there []part // parts whose datasets are there
	for i, p := range parts {
		if len(made[i]) > 0 {
			there = append(there, p)
		} else {
			t.Logf("%s is not there, and not compiled", p.Graph)
		}
	}
	if *renew && !t.Failed() && len(there) == len(parts) {
		write(t, all)
	}
	compare(t, there, all)
}

// start compiles a part in a process of its own; none of it where the dataset is not there.
func (p part) start() (made []program, err error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	c := exec.Command(os.Args[0], "-test.run=^TestSteps$", "-test.v")
	c.Env = append(os.Environ(), child+"="+string(text))
	out, err := c.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%v: %w:\n%s", p, err, out)
	}
	for line := range strings.Lines(string(out)) {
		if _, text, is := strings.Cut(line, "program: "); is {
			var one program
			if err := json.Unmarshal([]byte(text), &one); err != nil {
				return nil, err
			}
			made = append(made, one)
		}
	}
	return made, nil
}

// compile compiles a part in this process, and logs the programs for start.
func (p part) compile(t *testing.T) {
	dump := t.TempDir()
	t.Setenv(engine.Programs, "off")
	t.Setenv("XLA_FLAGS", "--xla_dump_to="+dump) // read when a plugin is loaded
	d, err := enginetest.Describe(p.GPU, "training step")
	if err != nil {
		t.Fatal(err)
	}
	g, err := datasets.Load(context.Background(), p.Graph, datasets.Options{Offline: true})
	if err != nil {
		t.Skip(err)
	}
	for _, k := range models.Kinds() {
		if p.GPU != "h100" && !slices.Contains([]string{"gcn+rep", "gat+rep", "grand+rep"}, k.Name) {
			continue
		}
		one := program{GPU: p.GPU, Graph: p.Graph, Model: k.Name}
		if err := one.compile(d, g, dump); err != nil {
			t.Errorf("%v: %v", one, err)
			continue
		}
		text, err := json.Marshal(one)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("program: %s", text)
	}
}

func (p *program) compile(d *engine.Described, g *graphs.Graph, dump string) error {
	c := train.Default(p.Model)
	if _, reversible := c.Values()["reverse"]; reversible {
		c.Forward, c.Reverse = 1, 8
	}
	if _, err := train.Bench(context.Background(), d.Engine, g, c, nil); !errors.Is(err, engine.ErrDescribed) {
		return fmt.Errorf("not compiled: %w", err)
	}
	p.CPUSeconds, p.Temporary = d.Last.CPUSeconds, d.Last.Memory.Temporary
	found, _ := filepath.Glob(filepath.Join(dump, "*thunk_sequence_after_thunk_passes.txt"))
	if len(found) != 1 {
		return fmt.Errorf("the compiler told of %d programs in place of one", len(found))
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		return err
	}
	p.Launches = launches(text)
	files, err := filepath.Glob(filepath.Join(dump, "*"))
	for _, f := range files {
		err = errors.Join(err, os.Remove(f))
	}
	return err
}

var thunk = regexp.MustCompile(`^( *)\d+: k(\w+)`)

// launches counts the thunks in the body of each loop that has no loop inside, and returns the largest number. text is
// XLA's list of a program's thunks, where a loop's condition and body follow it, the body indented more.
func launches(text []byte) (most int) {
	type body struct {
		indent, count int
		outer         bool
	}
	var open []body
	condition := false
	end := func() {
		if last := open[len(open)-1]; !last.outer {
			most = max(most, last.count)
		}
		open = open[:len(open)-1]
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		line := lines.Text()
		switch strings.TrimSpace(line) {
		case "condition:":
			condition = true
			continue
		case "body:":
			condition = false
			open = append(open, body{indent: len(line) - len("body:")})
			continue
		}
		found := thunk.FindStringSubmatch(line)
		if found == nil || condition {
			continue
		}
		for len(open) > 0 && len(found[1]) <= open[len(open)-1].indent {
			end()
		}
		if len(open) == 0 {
			continue
		}
		switch last := &open[len(open)-1]; found[2] {
		case "While":
			last.outer = true
		case "CommandBuffer": // whose commands follow
		default:
			last.count++
		}
	}
	for len(open) > 0 {
		end()
	}
	return most
}

func TestLaunches(t *testing.T) {
	text, err := os.ReadFile("testdata/thunks.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := launches(text); got != 3 {
		t.Errorf("%d launches in an iteration of the inner loop, want 3", got)
	}
}

func write(t *testing.T, all []program) {
	var out strings.Builder
	for i, p := range all {
		line, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString(map[bool]string{true: "[\n ", false: ",\n "}[i == 0])
		out.Write(line)
	}
	out.WriteString("\n]\n")
	if err := os.WriteFile(record, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func compare(t *testing.T, there []part, all []program) {
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	var before []program
	if err := json.Unmarshal(text, &before); err != nil {
		t.Fatal(err)
	}
	for _, b := range before {
		if !slices.ContainsFunc(all, b.is) && slices.Contains(there, part{b.GPU, b.Graph}) {
			t.Errorf("%v is in %s, and was not compiled", b, record)
		}
	}
	for _, p := range all {
		i := slices.IndexFunc(before, p.is)
		if i < 0 {
			t.Errorf("%v is not in %s: run make test-cuda RENEW=-renew", p, record)
			continue
		}
		b := before[i]
		t.Logf("%-44v %5.1f CPU s %3d launches %6.1f MB", p, p.CPUSeconds, p.Launches, float64(p.Temporary)/1e6)
		if p.CPUSeconds > 1.5*b.CPUSeconds+2 {
			t.Errorf("%v: compiling took %.1f CPU seconds, %.1f when recorded", p, p.CPUSeconds, b.CPUSeconds)
		}
		if p.Launches > b.Launches {
			t.Errorf("%v: %d launches an iteration, %d when recorded", p, p.Launches, b.Launches)
		}
		if p.Temporary > b.Temporary+b.Temporary/20 {
			t.Errorf("%v: a step works in %d bytes, %d when recorded", p, p.Temporary, b.Temporary)
		}
	}
}
