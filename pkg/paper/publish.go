package paper

import (
	"fmt"
	"html"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/report/echarts"
	"github.com/revgnn/revgnn/pkg/results"
)

// Provenance says in sentences what a document's runs are: their profile, engine, machine, versions, commit and dates, and how
// many went wrong.
func (d *Document) Provenance(p Profile) []string {
	out := []string{p.About}
	if len(d.Records) == 0 {
		return append(out, "No runs yet.")
	}
	unique := func(of func(*results.Record) string) string {
		set := map[string]bool{}
		for _, r := range d.Records {
			if s := of(r); s != "" {
				set[s] = true
			}
		}
		return strings.Join(slices.Sorted(maps.Keys(set)), "; ")
	}
	first, last, bad := d.Records[0].Started, d.Records[0].Started, map[string]int{}
	for _, r := range d.Records {
		if r.Started.Before(first) {
			first = r.Started
		}
		if r.Started.After(last) {
			last = r.Started
		}
		if r.Status != results.OK {
			bad[r.Status]++
		}
	}
	const day = "2006-01-02"
	when := first.Format(day)
	if last.Format(day) != when {
		when += " to " + last.Format(day)
	}
	out = append(out, fmt.Sprintf("%s of %s; engine %s; machine %s.", count(len(d.Records), "run"), when, unique(func(r *results.Record) string { return r.Engine }),
		unique(func(r *results.Record) string {
			return fmt.Sprintf("%d cores of %s %s (%s)", r.Machine.Cores, r.Machine.CPU, r.Machine.GPU, r.Machine.Platform)
		})))
	commit := unique(func(r *results.Record) string { return r.Commit })
	if commit == "" {
		commit = "not known"
	}
	out = append(out, fmt.Sprintf("Commit %s; %s.", commit, unique(func(r *results.Record) string {
		var all []string
		for _, name := range slices.Sorted(maps.Keys(r.Versions)) {
			all = append(all, name+" "+r.Versions[name])
		}
		return strings.Join(all, ", ")
	})))
	for _, status := range slices.Sorted(maps.Keys(bad)) {
		out = append(out, fmt.Sprintf("%s %s; see the table or the notes.", count(bad[status], "run"), status))
	}
	return out
}

// Write writes documents into a folder: for each a page, and its tables as Markdown, LaTeX and CSV and its figures as SVG and
// PNG; and an index.html. It returns the names of the files.
func Write(dir string, p Profile, documents []*Document) (names []string, err error) {
	if err := files.Writable(dir); err != nil {
		return nil, err
	}
	keep := func(name, content string) {
		if err == nil {
			names = append(names, name)
			err = files.Write(filepath.Join(dir, name), func(w io.Writer) error {
				_, err := io.WriteString(w, content)
				return err
			})
		}
	}
	var index strings.Builder
	for _, d := range documents {
		page, e := d.HTML(p)
		if e != nil {
			return names, e
		}
		keep(d.Name+".html", page)
		fmt.Fprintf(&index, "<li><a href=\"%s.html\">%s</a></li>\n", d.Name, html.EscapeString(d.Title))
		for _, table := range d.Tables {
			t := *table // the page has these notes once, below all its tables
			t.Notes = slices.Concat(table.Notes, d.Notes, d.Provenance(p))
			for _, form := range []struct {
				ending string
				write  func() (string, error)
			}{{".md", t.Markdown}, {".tex", t.LaTeX}, {".csv", t.CSV}} {
				text, e := form.write()
				if e != nil {
					return names, e
				}
				keep(t.ID+form.ending, text)
			}
		}
		for _, f := range d.Figures {
			svg, e := f.SVG()
			if e != nil {
				return names, e
			}
			png, e := f.PNG(2)
			if e != nil {
				return names, e
			}
			keep(f.ID+".svg", svg)
			keep(f.ID+".png", string(png))
		}
	}
	keep("index.html", page("The paper with revgnn, profile "+p.Name, "<p>"+html.EscapeString(p.About)+"</p>\n<ul>\n"+index.String()+"</ul>\n"))
	if library, e := echarts.Source(); e == nil { // pages stay useful without it: figures are pictures then
		keep("echarts.min.js", library)
	}
	return names, err
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
<style>body { font-family: Helvetica, Arial, sans-serif; color: #222; max-width: 1600px; margin: 24px; } li { max-width: 60em; margin: 4px 0; }</style>
</head>
<body>
<h1>%[1]s</h1>
%[2]s</body>
</html>
`, html.EscapeString(title), body)
}
