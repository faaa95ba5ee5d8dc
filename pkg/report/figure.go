package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
)

// Figure is one picture. Make it with a builder such as [Curves] or [Board].
type Figure struct {
	ID     string // names the figure in HTML; unique on a page, and fixed, so that saved notebooks differ only in data
	Title  string // one line above the picture
	Alt    string // what the picture shows, in a sentence, for readers who can't see it
	Width  int    // in CSS pixels
	Height int    // in CSS pixels

	chart chart
	err   error // what was wrong with the builder's arguments

	liveWidth, liveHeight int // of the interactive chart, where they differ

	drawn struct { // the static picture, once it was asked for
		sync.Mutex
		svg           string
		width, height int
	}
}

// chart is what a builder adds to the common look.
type chart interface {
	// option describes the whole chart, data included, as ECharts wants it.
	option() map[string]any

	// compact describes it for a web page: the option, with bulky data packed, and the JavaScript function
	// that unpacks it in place ("" for none). It also adds what JSON can't hold, such as tooltips' functions, and may
	// return a function (box, chart) => {...} that adds controls below the chart.
	compact() (option map[string]any, prepare string)

	// static describes it for the static picture, again with bulky data packed, with a function of the same kind. An
	// entry "overlay" holds SVG elements to put over what ECharts draws.
	static() (option map[string]any, prepare string, err error)

	// numbers are what the chart shows, as lines of CSV, the columns' names first.
	numbers() [][]string
}

// Item is what a page or a notebook can show: a [Figure] or a [Table].
type Item interface {
	// HTML is the item for a web page.
	HTML() (string, error)

	// Text is what readers of plain text get.
	Text() string
}

// Text says what the figure shows.
func (f *Figure) Text() string { return f.Title + ". " + f.Alt }

// Option describes the chart as JSON, as ECharts' setOption takes it.
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

// marshal leaves <, > and & to the caller: JSON escapes them, which is right inside a script, too.
func (f *Figure) marshal(option map[string]any) ([]byte, error) {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(option); err != nil {
		return nil, fmt.Errorf("report: figure %q: its data can't be written as JSON: %w", f.ID, err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
