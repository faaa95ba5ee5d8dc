package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
)

// Figure is one picture. Make it with a builder such as [Curves] or [Board].
type Figure struct {
	ID     string // the figure's name in HTML; unique on a page; constant, so that a notebook saves the same text
	Title  string // one line above the picture
	Alt    string // what the picture shows, in a sentence, for readers who cannot see it
	Width  int    // in CSS pixels
	Height int    // in CSS pixels

	chart chart
	err   error // a mistake in the builder's arguments

	liveWidth, liveHeight int // size of the interactive chart; 0 if it is that of the picture

	drawn struct { // the static picture, once it has been drawn
		sync.Mutex
		svg           string
		width, height int
	}
}

// chart is what distinguishes one kind of figure from another.
type chart interface {
	// option describes the whole chart, data included, as an ECharts option.
	option() map[string]any

	// compact describes the chart for a web page: the option with bulky data packed, and a JavaScript function that
	// unpacks the data in the option ("" for none). The function also adds what JSON cannot hold, such as functions
	// that format tooltips. It may return a function (box, chart) => {...} that adds controls below the chart.
	compact() (option map[string]any, prepare string)

	// static describes the chart for the static picture. Its data may be packed, too, with a function that unpacks
	// them. An entry "overlay" in the option holds SVG elements to put over ECharts' drawing.
	static() (option map[string]any, prepare string, err error)

	// numbers are the chart's data as rows of CSV. The first row has the columns' names.
	numbers() [][]string
}

// Item is what a page or a notebook can show: a [Figure] or a [Table].
type Item interface {
	// HTML is the item for a web page.
	HTML() (string, error)

	// Text is the item as plain text.
	Text() string
}

// Text describes the figure in words.
func (f *Figure) Text() string { return f.Title + ". " + f.Alt }

// Option is the chart's description as JSON, the argument of ECharts' setOption.
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

// marshal writes JSON with <, > and & escaped, so that it can stand inside a script element.
func (f *Figure) marshal(option map[string]any) ([]byte, error) {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(option); err != nil {
		return nil, fmt.Errorf("report: figure %q: its data can't be written as JSON: %w", f.ID, err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
