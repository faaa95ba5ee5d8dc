//go:build linux && cgo

package host_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/host"
)

// child is the name of an environment variable. If the variable is set, this test program is a child process of a test,
// and calls the function work instead of running tests.
const child = "REVGNN_TEST_HOST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(child) == "" {
		os.Exit(m.Run())
	}
	if err := work(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// outcome is what a child process reports to the test. The child process runs a compiled program many times, on several
// threads. Each run of the program is called a step.
type outcome struct {
	// Sums has, for each thread, a hash of the result of the thread's last step. Steps is the number of steps that all
	// threads did together.
	Sums  []string
	Steps int
	// Faults is the number of memory pages that the operating system provides while another compiled program runs once.
	// This program needs 64 MiB of working memory.
	Faults int64
	// Started tells whether the environment variable GLIBC_TUNABLES had the settings [host.Tunables] when the process
	// was started. Left is the value of this variable after [host.Tune] has run. If the process started processes of
	// its own, these would get the value Left.
	Started bool
	Left    string
}

const threads, steps = 8, 1000

// work is what a child process of a test does. It first calls [host.Tune], which sets up the memory allocator. It then
// runs a compiled program 1,000 times in total, on 8 threads, and prints the outcome as JSON for the test.
func work() error {
	if err := host.Tune(); err != nil {
		return err
	}
	engine.AfterCompile(host.Trim)
	e, err := engine.Open(engine.CPU)
	if err != nil {
		return err
	}
	step, err := NewExec(e.Backend, func(x *Node) *Node { return Tanh(MatMul(MatMul(x, Transpose(x, 0, 1)), x)) })
	if err != nil {
		return err
	}
	defer step.Finalize()
	o := outcome{Sums: make([]string, threads), Left: os.Getenv("GLIBC_TUNABLES")}
	var all sync.WaitGroup
	var mutex sync.Mutex
	for i := range threads {
		all.Go(func() {
			runtime.LockOSThread()
			sum, done, failed := iterate(step, i, steps/threads)
			host.Trim() // Other threads are still running the program.
			mutex.Lock()
			defer mutex.Unlock()
			o.Sums[i] = sum
			o.Steps += done
			if failed != nil {
				err = failed
			}
		})
	}
	all.Wait()
	if err != nil {
		return err
	}
	if o.Faults, err = faults(e); err != nil {
		return err
	}
	b, err := os.ReadFile("/proc/self/environ")
	if err != nil {
		return err
	}
	// The file has the environment with which this process was started. In this file, glibc has replaced the colon
	// between the two settings of host.Tunables by a zero byte. So the code looks for only one of the two settings.
	o.Started = bytes.Contains(b, []byte("glibc.malloc.arena_max=2"))
	return json.NewEncoder(os.Stdout).Encode(o)
}

// iterate runs the compiled program step n times. Each run needs 4 MiB of working memory, and its input is the result
// of the run before. The input of the first run depends on the number of the thread. iterate returns a hash of the last
// result, and how many times the program was run.
func iterate(step *Exec, thread, n int) (sum string, done int, err error) {
	const rows, columns = 1024, 16
	x := make([]float32, rows*columns)
	for i := range x {
		x[i] = float32(math.Sin(float64(i*(thread+3)))) / 8
	}
	for done = range n {
		in := tensors.FromFlatDataAndDimensions(x, rows, columns)
		out, err := step.Call(in)
		if err != nil {
			return "", done, err
		}
		x = tensors.MustCopyFlatData[float32](out[0])
		for _, t := range []*tensors.Tensor{in, out[0]} {
			if err := t.FinalizeAll(); err != nil {
				return "", done, err
			}
		}
	}
	bits := sha256.New()
	binary.Write(bits, binary.LittleEndian, x)
	return fmt.Sprintf("%x", bits.Sum(nil)), done + 1, nil
}

// faults runs a program that needs 64 MiB of working memory three times. It returns the number of page faults in the
// third run: the number of memory pages that the operating system has to provide for this run.
func faults(e *engine.Engine) (n int64, err error) {
	big, err := NewExec(e.Backend, func(x *Node) *Node { return MatMul(MatMul(x, Transpose(x, 0, 1)), x) })
	if err != nil {
		return 0, err
	}
	defer big.Finalize()
	x := tensors.FromFlatDataAndDimensions(make([]float32, 4096), 4096, 1)
	for range 3 {
		var before, after syscall.Rusage
		syscall.Getrusage(syscall.RUSAGE_SELF, &before)
		if _, err := big.Call(x); err != nil {
			return 0, err
		}
		syscall.Getrusage(syscall.RUSAGE_SELF, &after)
		n = after.Minflt - before.Minflt
	}
	return n, nil
}

// run runs this test program as a child process, with variables added to its environment, and returns the outcome.
func run(t *testing.T, environment ...string) (o outcome) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program)
	given := func(e string) bool { return strings.HasPrefix(e, "GLIBC_TUNABLES=") }
	c.Env = append(slices.DeleteFunc(os.Environ(), given), child+"=1")
	c.Env = append(c.Env, environment...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("with %q: %v", environment, err)
	}
	if err := json.Unmarshal(out, &o); err != nil {
		t.Fatalf("with %q: %v: %s", environment, err, out)
	}
	return o
}

// TestTunedStepsMatchBitForBit runs three child processes with different settings of the memory allocator: "plain" has
// the C library's own settings, "tuned" has [host.Tunables], and "kept" has [host.KeepTunables]. Each process must run
// a compiled program 1,000 times in total, on 8 threads. The results of all three processes must be the same bit for
// bit. The operating system must provide the memory of "tuned" in huge pages (2 MiB instead of 4 KiB), if these are
// enabled. The allocator's settings are in the environment variable GLIBC_TUNABLES. For "tuned", this variable already
// holds a setting of the user when the process starts. [host.Tune] must add its own settings and keep that of the user.
func TestTunedStepsMatchBitForBit(t *testing.T) {
	enginetest.Open(t, engine.CPU)
	const others = "glibc.rtld.nns=4"
	plain, tuned := run(t, host.Allocator+"="+host.System), run(t, host.Allocator+"=", "GLIBC_TUNABLES="+others)
	kept := run(t, host.Allocator+"="+host.Keep)
	for which, o := range map[string]outcome{"plain": plain, "tuned": tuned, "kept": kept} {
		if o.Steps != steps || len(o.Sums) != threads {
			t.Errorf("%s: %d steps on %d threads are done, want %d on %d", which, o.Steps, len(o.Sums), steps, threads)
		}
	}
	if !slices.Equal(plain.Sums, tuned.Sums) || !slices.Equal(plain.Sums, kept.Sums) {
		t.Errorf("states differ:\nplain %q\ntuned %q\nkept %q", plain.Sums, tuned.Sums, kept.Sums)
	}
	if len(slices.Compact(slices.Sorted(slices.Values(plain.Sums)))) != threads {
		t.Errorf("threads share states: %q", plain.Sums)
	}
	if plain.Started || !tuned.Started || plain.Left != "" || tuned.Left != others {
		t.Errorf("started with tunables: plain %v, tuned %v; left to children: %q and %q",
			plain.Started, tuned.Started, plain.Left, tuned.Left)
	}
	t.Logf("pages of a step with 64 MiB: %d plain, %d tuned, %d kept", plain.Faults, tuned.Faults, kept.Faults)
	enabled, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if err == nil && strings.Contains(string(enabled), "[madvise]") && tuned.Faults > plain.Faults/4 {
		t.Errorf("a step takes %d pages with huge ones, %d without", tuned.Faults, plain.Faults)
	}
}
