package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/revgnn/revgnn/pkg/files/filestest"
)

// TestFlippedBytes changes one byte in a file that a command reads. Some of these files are inputs, and others were
// written by an earlier command. The command must fail, with a message that says what is damaged. When the byte is
// restored, the training can be resumed. (This test changes only one byte of each file. The packages that read the
// files have tests that change every byte.)
func TestFlippedBytes(t *testing.T) {
	whole := t.TempDir()
	train := func(dir string) []string {
		return with(quick, "train", "--dataset", tinyGraph, "--json", "--epochs", "30", "--patience", "0", "--dropout",
			"0.2", "--splits", "0-1", "--out", dir, "--runs", filepath.Join(dir, "runs.sqlite"))
	}
	succeeds(t, train(whole)...)
	store, export := filepath.Join(whole, "runs.sqlite"), filepath.Join(t.TempDir(), "r.jsonl")
	succeeds(t, "runs", "export", export, "--runs", store)
	predict := with(quick, "predict", "--dataset", tinyGraph, "--out", filepath.Join(t.TempDir(), "o.npz"), "--weights")
	resume := with(train(whole), "--resume")
	for _, c := range []struct {
		file, after, want string // the byte is changed that follows this text, or else one of the last
		args              []string
	}{
		{writeFile(t, "g.npz", filestest.Graph()), "(3, 2), }\n", "damaged", []string{"datasets", "stats"}},
		{filepath.Join(whole, "split1.safetensors"), "", "it is not as revgnn wrote it", predict},
		{filepath.Join(whole, "split1.safetensors"), "", "split1.safetensors is damaged", resume},
		{filepath.Join(whole, "split0.json"), `"test": 0.`, "its checksum is wrong", resume},
		{store, `"test":0.`, "its checksum is wrong", []string{"runs", "list", "--runs", store}},
		{export, `"test":0.`, "by its checksum", []string{"runs", "import", export, "--runs",
			filepath.Join(t.TempDir(), "new.sqlite")}},
	} {
		before := read(t, c.file)
		at := len(before) - 3
		// The text may be in the file several times. SQLite, for example, leaves old copies of rows in unused parts of
		// its file. The last copy is the one in use.
		if i := bytes.LastIndex(before, []byte(c.after)); i >= 0 && c.after != "" {
			at = i + len(c.after)
		}
		put := func(b byte) {
			flipped := bytes.Clone(before)
			flipped[at] = b
			if err := os.WriteFile(c.file, flipped, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		put(before[at] ^ 1)
		args := c.args
		if last := args[len(args)-1]; last == "--weights" || last == "stats" {
			args = with(args, c.file)
		}
		fails(t, 1, c.want, args...)
		put(before[at])
	}
	succeeds(t, resume...)
}
