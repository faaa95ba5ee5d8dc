package paper

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/report/echarts"
)

// Write writes documents into a folder: for each a page, and its tables as Markdown, LaTeX and CSV and its figures as
// SVG and PNG; the scorecard as claims.json; and an index.html with all of it at a glance. It returns the names of the
// files.
func Write(dir string, p Profile, s *Scorecard, documents []*Document) (names []string, err error) {
	if err := files.Writable(dir); err != nil {
		return nil, err
	}
	to := &folder{dir: dir}
	for _, d := range documents {
		to.keep(d.Name+".html", func() (string, error) { return d.HTML(p) })
		to.document(d, p)
	}
	to.keep("claims.json", func() (string, error) {
		text, err := json.MarshalIndent(s, "", "  ")
		return string(text) + "\n", err
	})
	to.keep("index.html", func() (string, error) { return front(s, documents) })
	if library, e := echarts.Source(); e == nil { // pages stay useful without it: figures are pictures then
		to.keep("echarts.min.js", func() (string, error) { return library, nil })
	}
	return to.names, to.err
}

// folder is where files are written, up to the first error.
type folder struct {
	dir   string
	names []string
	err   error
}

// keep writes a file.
func (f *folder) keep(name string, content func() (string, error)) {
	if f.err != nil {
		return
	}
	text, err := content()
	if f.err = err; err != nil {
		return
	}
	f.names = append(f.names, name)
	f.err = files.Write(filepath.Join(f.dir, name), func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// document writes a document's tables and figures.
func (f *folder) document(d *Document, p Profile) {
	for _, table := range d.Tables {
		t := *table // the page has these notes once, below all its tables
		t.Notes = slices.Concat(table.Notes, d.Notes, d.Provenance(p))
		f.keep(t.ID+".md", t.Markdown)
		f.keep(t.ID+".tex", t.LaTeX)
		f.keep(t.ID+".csv", t.CSV)
	}
	for _, figure := range d.Figures {
		f.keep(figure.ID+".svg", figure.SVG)
		f.keep(figure.ID+".png", func() (string, error) {
			png, err := figure.PNG(2)
			return string(png), err
		})
	}
}

// HTML is the document as a page.
func (d *Document) HTML(p Profile) (string, error) {
	var b strings.Builder
	for _, f := range d.Figures {
		text, err := f.HTML()
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	for _, t := range d.Tables {
		text, err := t.HTML()
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	for _, list := range [][]string{d.Notes, d.Provenance(p)} {
		b.WriteString("<ul>\n")
		for _, note := range list {
			fmt.Fprintf(&b, "<li>%s</li>\n", html.EscapeString(note))
		}
		b.WriteString("</ul>\n")
	}
	return page(d.Title, b.String()), nil
}

// Items are the document's figures and tables, for a notebook.
func (d *Document) Items() []report.Item {
	var out []report.Item
	for _, f := range d.Figures {
		out = append(out, f)
	}
	for _, t := range d.Tables {
		out = append(out, t)
	}
	return out
}

// page wraps a body; figures take ECharts from the file beside it.
func page(title, body string) string {
	return fmt.Sprintf(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>%[1]s</title>
<script src="echarts.min.js"></script>
<style>body { font-family: Helvetica, Arial, sans-serif; color: #222; max-width: 1600px; margin: 24px; }
li { max-width: 60em; margin: 4px 0; }</style>
</head>
<body>
<p><a href="index.html">All claims, tables and figures</a></p>
<h1>%[1]s</h1>
%[2]s</body>
</html>
`, html.EscapeString(title), body)
}
