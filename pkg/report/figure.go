package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
)

// Figure is one picture. A builder such as [Curves] or [Board] makes it.
type Figure struct {
	// ID is the id of the figure in HTML. It must be unique on a page. Choose a fixed text: with a random one, a
	// notebook would change whenever it is run.
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

// chart is implemented by each kind of figure. It describes the figure in the form that ECharts reads.
type chart interface {
	// option returns the option (see the package comment) of the whole chart, with its data.
	option() map[string]any

	// compact describes the chart for a web page. Large data in its option have a shorter form than in the option that
	// ECharts reads. prepare is a JavaScript function that changes the option on the page. It restores the data, and
	// adds what JSON cannot hold, such as functions that format tooltips. If prepare returns a function, this function
	// is called with the figure's HTML element and the chart, and adds controls below the chart. If there is nothing to
	// do, prepare is "".
	compact() (option map[string]any, prepare string)

	// static describes the chart for the static picture, in the same way as compact. If the option has an entry
	// "overlay", this entry is SVG text that is drawn on top of ECharts' picture.
	static() (option map[string]any, prepare string, err error)

	// numbers returns the chart's data as rows of CSV. The first row has the names of the columns.
	numbers() [][]string
}

// Item is something that a page or a notebook can show, such as a [Figure] or a [Table].
type Item interface {
	// HTML returns the item for a web page.
	HTML() (string, error)

	// Text returns the item as plain text.
	Text() string
}

// Text describes the figure in words.
func (f *Figure) Text() string { return f.Title + ". " + f.Alt }

// Option returns the description of the chart as JSON. It is the argument of ECharts' function setOption.
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
