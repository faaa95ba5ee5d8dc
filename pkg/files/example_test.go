package files_test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/revgnn/revgnn/pkg/files"
)

// If a write fails half way, the old file stays as it was.
func ExampleWrite() {
	dir, err := os.MkdirTemp("", "files")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "result.json")
	if err := files.WriteText(path, `{"val": 0.91}`); err != nil {
		log.Fatal(err)
	}
	err = files.Write(path, func(w io.Writer) error {
		fmt.Fprint(w, `{"val": `)
		return errors.New("interrupted")
	})
	fmt.Println("written:", err == nil)

	text, err := files.Read(path, "a result as JSON", 1<<20)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(text))
	// Output:
	// written: false
	// {"val": 0.91}
}

// A misspelt setting is an error. json.Unmarshal would ignore it.
func ExampleStrict() {
	var settings struct {
		Hidden int `json:"hidden"`
	}
	fmt.Println(files.Strict([]byte(`{"hidden": 64}`), &settings), settings.Hidden)
	fmt.Println(files.Strict([]byte(`{"hiden": 32}`), &settings) != nil)
	// Output:
	// <nil> 64
	// true
}

// A name in somebody else's file has a command that would clear the screen of the terminal.
func ExamplePrintable() {
	fmt.Println(files.Printable("GCN\x1b[2J\nReP"))
	fmt.Println(files.Printable("one line\nanother", '\n'))
	// Output:
	// GCN\u001b[2J\u000aReP
	// one line
	// another
}
