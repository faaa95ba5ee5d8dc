// Package nb shows figures, tables and progress in cells of a Go notebook, and passes values from cell to cell. Outside
// a notebook it writes plain text to stderr.
//
// GoNB compiles each cell as a program of its own, without the variables of earlier cells: [Save] stores a value in a
// file, and [Load] reads it. Package live trains networks and returns [Runs], whose methods compare them:
//
//	runs := nb.Load[nb.Runs]("runs")
//	nb.Show(runs.Table("scores", "Scores", nb.Validation(2), nb.Test(2)), runs.Losses("loss", "Loss while training"))
//
// The package depends on neither engine nor trainer, so that a cell that only shows compiles in half the time.
package nb

import (
	"bufio"
	"cmp"
	"encoding/gob"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/report"
)

// Show displays items below the cell: figures as pictures that become interactive where scripts may run.
func Show(items ...report.Item) {
	for _, item := range items {
		show(item)
	}
	if gonbui.IsNotebook {
		gonbui.Sync() // wait until the output is shown, since the cell's process may end right after this call
	}
}

func show(item report.Item) {
	html := Must(item.HTML())
	if !gonbui.IsNotebook {
		fmt.Fprintln(os.Stderr, item.Text())
		return
	}
	gonbui.SendData(&protocol.DisplayData{Data: map[protocol.MIMEType]any{
		protocol.MIMETextHTML:  html,
		protocol.MIMETextPlain: item.Text(),
	}})
}

// Must returns v if err is nil; see [Check].
func Must[T any](v T, err error) T {
	Check(err)
	return v
}

// Check ends the cell with the first error as its message, or panics with it outside a notebook. So do all functions of
// this package and of package live where they fail.
func Check(errs ...error) {
	for _, err := range errs {
		switch {
		case err == nil:
		case gonbui.IsNotebook:
			gonbui.Sync()
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		default:
			panic(err)
		}
	}
}

// Save stores a copy of v under a name, for later cells of the kernel, without unexported fields.
func Save(name string, v any) {
	err := files.WriteSealed(file(name), func(w io.Writer) error { return gob.NewEncoder(w).Encode(v) })
	if err != nil {
		Check(fmt.Errorf("nb: saving %q: %w", name, err))
	}
}

// Load returns what [Save] stored. It fails if there is nothing, or nothing of type T.
func Load[T any](name string) T {
	f, err := files.OpenSealed(file(name), "what a cell saved")
	if errors.Is(err, fs.ErrNotExist) {
		Check(fmt.Errorf("nb: nothing is saved as %q: run the cell that saves it first", name))
	} else if err != nil {
		Check(fmt.Errorf("nb: loading %q: %w; run the cell that saves it again", name, err))
	}
	defer f.Close()
	var v T
	if err := gob.NewDecoder(f).Decode(&v); err != nil {
		Check(fmt.Errorf("nb: loading %q: %w", name, err))
	}
	return v
}

// Folder is the kernel's temporary folder, removed when the kernel ends; "" outside a notebook.
func Folder() string { return os.Getenv(protocol.GONB_TMP_DIR_ENV) }

func file(name string) string {
	return filepath.Join(cmp.Or(Folder(), os.TempDir()), "saved-"+filepath.Base(name)+".gob")
}

// Fresh makes a folder for the files of a run, and returns its path: name-1 or, where that is taken, the next number.
func Fresh(name string) string {
	for k := 1; ; k++ {
		dir := fmt.Sprintf("%s-%d", name, k)
		if err := os.Mkdir(dir, 0o755); !errors.Is(err, fs.ErrExist) {
			Check(err)
			return dir
		}
	}
}

// List is a list of sentences.
type List []string

func (l List) HTML() (string, error) {
	var b strings.Builder
	b.WriteString(`<ul style="max-width:60em">`)
	for _, s := range l {
		fmt.Fprintf(&b, `<li style="margin:4px 0">%s</li>`, html.EscapeString(s))
	}
	b.WriteString("</ul>\n")
	return b.String(), nil
}

func (l List) Text() string { return strings.Join(l, "\n") }

// Folded hides an item behind a line that a click opens.
func Folded(line string, item report.Item) report.Item { return folded{line, item} }

type folded struct {
	line string
	report.Item
}

func (f folded) HTML() (string, error) {
	inner, err := f.Item.HTML()
	return fmt.Sprintf(`<details><summary style="cursor:pointer;font:13px `+
		`Helvetica,Arial,sans-serif">%s</summary>%s</details>`, html.EscapeString(f.line), inner), err
}

func (f folded) Text() string { return f.line + "\n" + f.Item.Text() }

// Head returns the first lines of a text file.
func Head(path string, lines int) report.Item {
	f := Must(os.Open(path))
	defer f.Close()
	name := path
	if filepath.IsAbs(path) {
		name = filepath.Base(path)
	}
	text, more := name+":\n", bufio.NewScanner(f)
	for range lines {
		if !more.Scan() {
			break
		}
		text += more.Text() + "\n"
	}
	if more.Scan() {
		text += "...\n"
	}
	if err := more.Err(); err != nil {
		Check(fmt.Errorf("nb: reading %s: %w", path, err))
	}
	return verbatim(text)
}

type verbatim string

func (v verbatim) HTML() (string, error) {
	return "<pre>" + html.EscapeString(string(v)) + "</pre>\n", nil
}

func (v verbatim) Text() string { return string(v) }
