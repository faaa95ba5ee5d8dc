package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// Figure is one picture, made by a builder such as [Curves] or [Board]. Sizes are in CSS pixels.
type Figure struct {
	// ID is the figure's id in HTML, unique on a page. A fixed text keeps a notebook's file the same when it is run
	// again.
	ID     string
	Title  string // one line above the picture
	Alt    string // what the picture shows, in a sentence, for readers who cannot see it
	Width  int    // in CSS pixels
	Height int    // in CSS pixels

	chart chart
	err   error // a mistake in the builder's arguments, if there is one

	liveWidth, liveHeight int // size of the interactive chart; 0 if it is the same as that of the static picture

	drawn struct { // the static picture, if it has been drawn already
		sync.Mutex
		svg           string
		width, height int
	}
}

// chart is a kind of figure, such as curves. An option is the JSON by which ECharts draws.
type chart interface {
	// option is the whole option, with the data.
	option() map[string]any

	// compact is the option for a web page, with large data in a shorter form. prepare, unless "", is a JavaScript
	// function that writes them out before ECharts reads the option, and adds what JSON cannot hold. It may return a
	// function that adds controls below the chart, from the figure's HTML element and the drawn chart.
	compact() (option map[string]any, prepare string)

	// static is the option for the static picture. prepare is as above; an entry "overlay" is SVG that is drawn on top.
	static() (option map[string]any, prepare string, err error)

	// numbers are the data as rows of CSV, names of columns first.
	numbers() [][]string
}

// Item is what a page or a notebook can show, such as a [Figure] or a [Table].
type Item interface {
	HTML() (string, error)

	Text() string
}

// Text is the title and Alt.
func (f *Figure) Text() string { return f.Title + ". " + f.Alt }

// Option is the JSON by which ECharts' setOption draws the chart.
func (f *Figure) Option() ([]byte, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	return f.marshal(f.chart.option())
}

func (f *Figure) check() error {
	switch {
	case f.err != nil:
		return fmt.Errorf("report: figure %q: %w", f.ID, f.err)
	case f.ID == "":
		return fmt.Errorf("report: figure %q has no ID: give the builder a short fixed name", f.Title)
	}
	return nil
}

// marshal escapes <, > and &, so that the JSON can stand in a script element.
func (f *Figure) marshal(option map[string]any) ([]byte, error) {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(option); err != nil {
		return nil, fmt.Errorf("report: figure %q: its data can't be written as JSON: %w", f.ID, err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// CSV is the data: a row for each point of a curve, cell of a map, or line of [Parallel].
func (f *Figure) CSV() (string, error) {
	if err := f.check(); err != nil {
		return "", err
	}
	var b strings.Builder
	if err := csv.NewWriter(&b).WriteAll(f.chart.numbers()); err != nil {
		return "", fmt.Errorf("report: figure %q: %w", f.ID, err)
	}
	return b.String(), nil
}

// LaTeX is a float that shows the PDF, which must be beside the document in a file named after the ID (loss.pdf); it
// needs \usepackage{graphicx}.
func (f *Figure) LaTeX() (string, error) {
	if err := f.check(); err != nil {
		return "", err
	}
	return fmt.Sprintf("%% Needs \\usepackage{graphicx}, and %[1]s.pdf beside the document.\n\\begin{figure}[t]\n"+
		"\\centering\n\\includegraphics[width=\\linewidth]{%[1]s}\n\\caption{%[2]s}\n\\label{fig:%[1]s}\n\\end{figure}\n",
		f.ID, inLaTeX.plain(f.Title)), nil
}
