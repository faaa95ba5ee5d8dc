package live

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/report/nb"
	"github.com/revgnn/revgnn/pkg/train"
)

// TestCell is not a test of its own. It stands for a notebook cell that trains. [TestStopButton] runs it in another
// process.
func TestCell(t *testing.T) {
	if nb.Folder() == "" {
		t.Skip("another test starts this one in a process of its own")
	}
	fmt.Println(cell(t))
}

// cell trains a network, and returns the result as text.
func cell(t *testing.T) string {
	g, err := datasets.Minesweeper{Rows: 12, Cols: 12, Mines: 0.2, Unknown: 0.3, Seed: 1}.Graph()
	if err != nil {
		t.Fatal(err)
	}
	c := train.Default("gcn+rep")
	c.Forward, c.Reverse, c.Hidden, c.Epochs, c.Patience, c.Dropout = 2, 2, 8, 200, 0, 0.2
	r := Fit("a title", enginetest.Open(t, engine.Go), g, 0, c)
	return fmt.Sprint("ended ", r.Epochs, r.BestEpoch, r.Val, r.Test, r.History[199].Loss)
}

// TestStopButton stops the training of a cell, and runs the cell again. The result must be the same as that of a
// training that was not stopped.
func TestStopButton(t *testing.T) {
	folder := t.TempDir()
	start := func() (*exec.Cmd, *bufio.Reader) {
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestCell$")
		c.Env = append(os.Environ(), protocol.GONB_TMP_DIR_ENV+"="+folder)
		out, err := c.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		c.Stdout = c.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c, bufio.NewReader(out)
	}
	read := func(r *bufio.Reader, until string) (text string) {
		for !strings.Contains(text, until) {
			b, err := r.ReadByte()
			if err != nil {
				break
			}
			text += string(b)
		}
		return text
	}
	stopped, out := start()
	read(out, " of 200")
	stopped.Process.Signal(os.Interrupt)
	text := read(out, "nothing")
	stopped.Wait()
	kept := filepath.Join(folder, "a title.checkpoint")
	if _, err := os.Stat(kept); stopped.ProcessState.ExitCode() != 130 || err != nil ||
		!strings.Contains(text, "run the cell again") {
		t.Fatalf("%v, %v: %s", stopped.ProcessState, err, text)
	}
	again, out := start()
	text = read(out, "nothing")
	again.Wait()
	if want := cell(t); !strings.Contains(text, want) {
		t.Errorf("got %s\nwant %s", text, want)
	}
	if _, err := os.Stat(kept); !os.IsNotExist(err) {
		t.Errorf("the checkpoint is still there: %v", err)
	}
}
