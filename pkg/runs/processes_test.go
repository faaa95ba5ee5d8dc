package runs

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestMain runs the tests, unless the environment variable REVGNN_TEST_WRITER names a file. In this case the process
// adds records to the file, and prints the ID of each record as soon as Add has returned. The tests start
// such processes to check that several processes can write to one file, and that killing a process loses no records.
func TestMain(m *testing.M) {
	if path := os.Getenv("REVGNN_TEST_WRITER"); path != "" {
		if err := addMany(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func addMany(path string) error {
	var n int
	fmt.Sscan(os.Getenv("REVGNN_TEST_RUNS"), &n)
	s, err := Open(path)
	if err != nil {
		return err
	}
	for range n {
		id, err := s.Add(example())
		if err != nil {
			return err
		}
		fmt.Println(id)
	}
	return s.Close()
}

func writer(t *testing.T, path string, runs int) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), "REVGNN_TEST_WRITER="+path, fmt.Sprintf("REVGNN_TEST_RUNS=%d", runs))
	return c
}

func TestProcessesWriteAtOnce(t *testing.T) {
	const processes, runs = 6, 15
	path := filepath.Join(t.TempDir(), "new", "runs.sqlite")
	var started []*exec.Cmd
	for range processes {
		c := writer(t, path, runs)
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		started = append(started, c)
	}
	for _, c := range started {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	s, err := OpenExisting(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if n := len(all(t, s)); n != processes*runs {
		t.Errorf("%d records of %d", n, processes*runs)
	}
}

// TestKilledWriter kills a process while it adds records. The process prints an ID after each call of Add. All records
// with the printed IDs must be in the store.
func TestKilledWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.sqlite")
	c := writer(t, path, 1<<20)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if ids = append(ids, lines.Text()); len(ids) == 20 {
			c.Process.Kill()
		}
	}
	c.Wait()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, id := range ids {
		if _, err := s.Get(id); err != nil {
			t.Error(err)
		}
	}
	add(t, s, example())
}
