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

// Write writes files into a folder, and returns their names:
//   - a page for each document;
//   - the tables and figures as SVG, PNG, LaTeX and CSV, and the tables also as Markdown;
//   - the scorecard, claims.json;
//   - an overview, index.html;
//   - the library that draws the figures on the pages, echarts.min.js, if it is installed.
func Write(dir string, p Profile, s *Scorecard, documents []*Document) (names []string, err error) {
	if err := files.Writable(dir); err != nil {
		return nil, err
	}
	to := &folder{dir: dir}
	for i, d := range documents {
		to.keep(d.Name+".html", func() (string, error) { return d.page(p, documents, i) })
		to.document(d, p)
	}
	to.keep("claims.json", func() (string, error) {
		text, err := json.MarshalIndent(s, "", "  ")
		return string(text) + "\n", err
	})
	to.keep("index.html", func() (string, error) {
		o, err := look(s, documents, false)
		if err != nil {
			return "", err
		}
		return o.part("front")
	})
	if library, e := echarts.Source(); e == nil { // if ECharts is missing, figures are static pictures
		to.keep("echarts.min.js", func() (string, error) { return library, nil })
	}
	return to.names, to.err
}

// folder writes files into the folder dir, and keeps their names. After the first error it writes no more files.
type folder struct {
	dir   string
	names []string
	err   error
}

// keep writes a file with the text that the function content returns. If there was an error before this call, keep does
// nothing.
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

// file is a table or figure in one format. The field ending is the ending of the file name, such as "svg". The function
// content returns what the file contains.
type file struct {
	ending  string
	content func() (string, error)
}

// filesOf returns the ID of a table or figure, and its files, one for each format. The ID is the file name without the
// ending. The files of a table also have the given notes, since a reader may have these files without the page that
// shows the notes.
func filesOf(item report.Item, notes []string) (id string, all []file) {
	pixels := func(png func(scale float64) ([]byte, error)) func() (string, error) {
		return func() (string, error) {
			text, err := png(2)
			return string(text), err
		}
	}
	switch it := item.(type) {
	case *report.Figure:
		return it.ID, []file{{"svg", it.SVG}, {"png", pixels(it.PNG)}, {"tex", it.LaTeX}, {"csv", it.CSV}}
	case *report.Table:
		t := *it
		t.Notes = slices.Concat(it.Notes, notes)
		return t.ID, []file{{"svg", t.SVG}, {"png", pixels(t.PNG)}, {"tex", t.LaTeX}, {"csv", t.CSV}, {"md", t.Markdown}}
	}
	panic("documents have tables and figures only")
}

// document writes the files of a document's tables and figures.
func (f *folder) document(d *Document, p Profile) {
	for _, item := range d.Items() {
		id, all := filesOf(item, slices.Concat(d.Notes, d.Provenance(p)))
		for _, one := range all {
			f.keep(id+"."+one.ending, one.content)
		}
	}
}

// Items returns the document's figures and tables.
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

// pageItem is a table or figure on a page. The page offers Files for download.
type pageItem struct {
	HTML  template.HTML
	Files []download
}

// download is a file that a page offers for download. Name is the name of the file, which is in the same folder as the
// page. Format is the name of its format, such as "SVG".
type download struct{ Name, Format string }

// formats has an entry for each file format. The key is the ending of the file name, and the value is the name of the
// format.
var formats = map[string]string{"svg": "SVG", "png": "PNG", "tex": "LaTeX", "csv": "CSV", "md": "Markdown"}

// page returns the HTML page of the document d, which is documents[i]. The page has links to the files of its tables
// and figures. It also has links to the pages of the documents before and after d.
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
		one := pageItem{HTML: template.HTML(text)} // item.HTML has escaped its text
		id, all := filesOf(item, nil)
		for _, f := range all {
			one.Files = append(one.Files, download{id + "." + f.ending, formats[f.ending]})
		}
		at.Shown = append(at.Shown, one)
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
