package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"strings"
	"testing"
)

// TestTablePicture: the picture of a table has all text of the table, is well-formed XML, and can be converted to
// pixels. The picture in pixels is at least as wide as the table.
func TestTablePicture(t *testing.T) {
	table := someTable()
	svg, err := table.SVG()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if text, ok := token.(xml.CharData); ok {
			said.WriteString(strings.TrimSpace(string(text)) + " ")
		}
	}
	for _, want := range []string{`50 % & more of_it {"<b>"}`, "Wikipedia", "accuracy [%]", "Plain backbones", "45.89",
		"± 1.45", "256/256", "46,998", "Missing: needs 30 GB", "Grey", "+6.42 (↑)"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("the picture lacks %q:\n%s", want, said.String())
		}
	}
	pixels, err := table.PNG(2)
	if err != nil {
		t.Fatal(err)
	}
	w, err := table.written(inHTML)
	if err != nil {
		t.Fatal(err)
	}
	width := sum(w.lay().widths)
	size, err := png.DecodeConfig(bytes.NewReader(pixels))
	if err != nil || float64(size.Width) < 2*width {
		t.Errorf("%d pixels wide, the table %g: %v", size.Width, width, err)
	}
	small, err := Thumbnail(table)
	if err != nil {
		t.Fatal(err)
	}
	if size, err = png.DecodeConfig(bytes.NewReader(small)); err != nil || size.Width != 360 || size.Height > 216 {
		t.Errorf("a thumbnail of %d x %d pixels: %v", size.Width, size.Height, err)
	}
	table.Rows[0].Cells = nil
	if _, err := table.SVG(); err == nil {
		t.Error("a row without cells was drawn")
	}
}

// TestFoldedRows: a row is hidden until a click if it has published numbers and our numbers in it are marked as
// missing. A row in which our cells are empty is shown. If our numbers are missing in all rows, all rows are shown.
func TestFoldedRows(t *testing.T) {
	published, none := Number(2, 1).Published(), Missing("not run")
	table := &Table{ID: "folds", Title: "Folds", Corner: "Model", Columns: []Column{{Name: "ours"}, {Name: "paper"}},
		Rows: []Row{{Label: "run", Cells: []Cell{Number(1, 1), published}},
			{Label: "stated", Cells: []Cell{{}, published}}, {Label: "bare", Cells: []Cell{none, published}}}}
	text, err := table.HTML()
	if err != nil {
		t.Fatal(err)
	}
	shown, folded, ok := strings.Cut(text, "<details")
	if !ok || !strings.Contains(folded, "1 more without numbers of ours: bare") || strings.Contains(shown, ">bare<") ||
		!strings.Contains(shown, ">run<") || !strings.Contains(shown, ">stated<") {
		t.Errorf("got %s", text)
	}
	if !strings.Contains(shown, "position:sticky") {
		t.Error("the first column does not stay")
	}
	table.Rows = table.Rows[2:]
	if text, err = table.HTML(); err != nil || strings.Contains(text, "<details") {
		t.Errorf("all rows fold: %v", err)
	}
}

// TestWideTables: only a wide table has a hint that readers can scroll to further columns.
func TestWideTables(t *testing.T) {
	table := someTable()
	text, err := table.HTML()
	if err != nil || strings.Contains(text, "columns: scroll") {
		t.Errorf("a narrow table scrolls: %v", err)
	}
	table.Columns[4].Name = strings.Repeat("wide ", 60)
	if text, err = table.HTML(); err != nil || !strings.Contains(text, "5 columns: scroll") {
		t.Errorf("a wide table does not say so: %v", err)
	}
}

func TestLongWordsInSmallPrintBreak(t *testing.T) {
	table := &Table{ID: "long", Corner: "x", Columns: []Column{{Name: "y"}}, Rows: []Row{{Label: "z", Cells: []Cell{
		Number(1, 1).Below(Text(strings.Repeat("word ", 20)))}}}}
	text, err := table.HTML()
	if err != nil || strings.Count(text, "<br/>") < 3 {
		t.Errorf("%v: %s", err, text)
	}
}
