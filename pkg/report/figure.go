package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
)

// Figure is one picture. A builder such as [Curves] or [Board] makes it.
type Figure struct {
	// ID is the id of the figure in HTML. It must be unique on a page. Choose a fixed text: with a random text, the
	// file of a notebook would change whenever the notebook is run.
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

// chart is an interface that each kind of figure implements, for example curves and maps. The methods of a chart
// describe the figure in the form that ECharts reads.
type chart interface {
	// option returns the description of the whole chart that ECharts reads (its option), with the data of the chart.
	option() map[string]any

	// compact describes the chart for a web page, in less space. In the returned option, large data have a shorter form
	// than the one that ECharts reads. The result prepare is the text of a JavaScript function, or "" if no function is
	// needed. On the page, this function changes the option before ECharts reads it: it writes the data in the longer
	// form, and adds what JSON cannot hold, such as functions that format tooltips. The function may return another
	// function, which adds controls below the chart. The page calls that one with the figure's HTML element and the
	// drawn chart.
	compact() (option map[string]any, prepare string)

	// static describes the chart for the static picture. The result prepare is the text of a JavaScript function that
	// changes the option before ECharts reads it, or "" if there is nothing to change. If the option has an entry
	// "overlay", this entry is SVG text. It is drawn on top of the picture that ECharts makes.
	static() (option map[string]any, prepare string, err error)

	// numbers returns the chart's data as rows of CSV. The first row has the names of the columns.
	numbers() [][]string
}

// Item is something that a page or a notebook can show, such as a [Figure] or a [Table].
type Item interface {
	// HTML returns the item as HTML, for a web page or a notebook.
	HTML() (string, error)

	// Text returns the item as plain text.
	Text() string
}

// Text describes the figure in words: it returns the title and the text in the field Alt.
func (f *Figure) Text() string { return f.Title + ". " + f.Alt }

// Option returns the description of the chart that ECharts reads, as JSON. To draw the chart, a web page gives this
// description to the function setOption of ECharts.
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

// marshal returns an option as JSON in which <, > and & are escaped, so that the JSON can be part of a script element
// in HTML.
func (f *Figure) marshal(option map[string]any) ([]byte, error) {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(option); err != nil {
		return nil, fmt.Errorf("report: figure %q: its data can't be written as JSON: %w", f.ID, err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
