package paper

import (
	_ "embed"
	"encoding/json"
	"html/template"
	"path/filepath"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/report/echarts"
)

// Write writes into a folder, and returns the names: a page for each document, its tables and figures as SVG, PNG,
// LaTeX and CSV (tables also as Markdown), the scorecard claims.json, the overview index.html, and ECharts, which draws
// on the pages, if it is installed.
func Write(dir string, p Profile, s *Scorecard, documents []*Document) (names []string, err error) {
	if err := files.Writable(dir); err != nil {
		return nil, err
	}
	to := &folder{dir: dir}
	for i, d := range documents {
		to.keep(d.Name+".html", func() (string, error) { return d.page(p, documents, i) })
		for _, item := range d.Items() {
			for _, f := range filesOf(item, slices.Concat(d.Notes, d.Provenance(p))) {
				to.keep(f.Name, f.content)
			}
		}
	}
	to.keep("claims.json", func() (string, error) {
		text, err := json.MarshalIndent(s, "", "  ")
		return string(text) + "\n", err
	})
	to.keep("index.html", func() (string, error) { return look(s, documents, false).part("front") })
	if library, e := echarts.Source(); e == nil { // if ECharts is missing, figures are static pictures
		to.keep("echarts.min.js", func() (string, error) { return library, nil })
	}
	return to.names, to.err
}

// folder writes files; after the first error it writes no more.
type folder struct {
	dir   string
	names []string
	err   error
}

func (f *folder) keep(name string, content func() (string, error)) {
	if f.err != nil {
		return
	}
	text, err := content()
	if f.err = err; err != nil {
		return
	}
	f.names = append(f.names, name)
	f.err = files.WriteText(filepath.Join(f.dir, name), text)
}

// file is a table or figure in one format.
type file struct {
	Name, Format string
	content      func() (string, error)
}

// formats are the endings and names of all formats.
var formats = [...][2]string{{"svg", "SVG"}, {"png", "PNG"}, {"pdf", "PDF"}, {"tex", "LaTeX"}, {"csv", "CSV"},
	{"md", "Markdown"}}

// filesOf returns the files of a table or figure. A table's files have the notes, too, since readers may have them
// without the page.
func filesOf(item report.Item, notes []string) (all []file) {
	text := func(of func() ([]byte, error)) func() (string, error) {
		return func() (string, error) {
			b, err := of()
			return string(b), err
		}
	}
	pixels := func(png func(scale float64) ([]byte, error)) func() (string, error) {
		return text(func() ([]byte, error) { return png(2) })
	}
	var id string
	var contents []func() (string, error)
	switch it := item.(type) {
	case *report.Figure:
		id, contents = it.ID, []func() (string, error){it.SVG, pixels(it.PNG), text(it.PDF), it.LaTeX,
			it.CSV}
	case *report.Table:
		t := *it
		t.Notes = slices.Concat(it.Notes, notes)
		id, contents = t.ID, []func() (string, error){t.SVG, pixels(t.PNG), text(t.PDF), t.LaTeX, t.CSV, t.Markdown}
	}
	for i, content := range contents {
		all = append(all, file{id + "." + formats[i][0], formats[i][1], content})
	}
	return all
}

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

//go:embed page.html
var pageHTML string

type pageItem struct {
	HTML  template.HTML // [report.Item.HTML] has escaped its text
	Files []file
}

// page is the HTML page of documents[i], with links to its files and to the pages before and after it.
func (d *Document) page(p Profile, documents []*Document, i int) (string, error) {
	at := struct {
		*Document
		Profile        Profile
		Shown          []pageItem
		Made           []string
		Previous, Next *Document
	}{Document: d, Profile: p, Made: d.Provenance(p)}
	for _, item := range d.Items() {
		text, err := item.HTML()
		if err != nil {
			return "", err
		}
		at.Shown = append(at.Shown, pageItem{template.HTML(text), filesOf(item, nil)})
	}
	if i > 0 {
		at.Previous = documents[i-1]
	}
	if i+1 < len(documents) {
		at.Next = documents[i+1]
	}
	t, err := template.New("page").Parse(pageHTML)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, at)
	return b.String(), err
}
