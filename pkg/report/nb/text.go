package nb

import (
	"bufio"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"

	"github.com/revgnn/revgnn/pkg/report"
)

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

// Head returns the first lines of a text file. It panics if the file cannot be read.
func Head(path string, lines int) report.Item {
	f := Must(os.Open(path))
	defer f.Close()
	text, more := filepath.Base(path)+":\n", bufio.NewScanner(f)
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
		panic(fmt.Errorf("nb: reading %s: %w", path, err))
	}
	return verbatim(text)
}

type verbatim string

func (v verbatim) HTML() (string, error) {
	return "<pre>" + html.EscapeString(string(v)) + "</pre>\n", nil
}

func (v verbatim) Text() string { return string(v) }
