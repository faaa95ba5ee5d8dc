package report

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestBoardsFitAPage: a figure of four maps side by side is about as wide as a page, or narrower. Otherwise its right
// part would be cut off. The sides of cells are rounded to whole pixels. Therefore the figure may be wider than a page
// by half a pixel for each column of cells.
func TestBoardsFitAPage(t *testing.T) {
	for _, side := range []int{7, 24, 36, 100} {
		values := make([]float64, side*side)
		panel := Panel{Title: "map", Values: values}
		f := Board("four", "Four", "value", side, side, []Panel{panel, panel, panel, panel})
		if f.Width > pageWidth+4*side/2 || side < 100 && f.Width > 1150 {
			t.Errorf("%d cells a side: %d pixels", side, f.Width)
		}
	}
}

// TestTextKeepsItsPlace: a static picture states the width of each line of text. So the line has this width on every
// machine, even on one that lacks our font and takes another.
func TestTextKeepsItsPlace(t *testing.T) {
	var panels []Panel
	for range 7 {
		panels = append(panels, Panel{Title: "reverse layer 16 of 16", Values: make([]float64, 64)})
	}
	f := Boards("strip", "Strip", "value", 8, 8, []Strip{{Title: "With the mines", Panels: panels}})
	svg, err := f.SVG()
	if err != nil {
		t.Skip(err)
	}
	texts := regexp.MustCompile(`<text (textLength="([0-9.]+)" )?[^>]*>([^<]+)<`).FindAllStringSubmatch(svg, -1)
	if len(texts) < 8 {
		t.Fatalf("%d texts in\n%s", len(texts), svg)
	}
	for _, text := range texts {
		width, err := strconv.ParseFloat(text[2], 64)
		if err != nil || text[3] == panels[0].Title && (width < 100 || width > 145) {
			t.Errorf("%q is %q wide", text[3], text[2])
		}
	}
}

func TestFigureFiles(t *testing.T) {
	curves := Curves("loss", "Loss & more", "epoch", "loss", []Series{{Name: "a", X: []float64{1, 2}, Y: []float64{3, 4},
		Spread: []float64{0.5, 0.25}}})
	board := Board("board", "Board", "p", 1, 2, []Panel{{Title: "truth", Values: []float64{0.25, 1}, Marks: []int{1}}})
	for f, want := range map[*Figure][]string{
		curves: {"panel,curve,x,y,spread,x_name,y_name", ",a,2,4,0.25,epoch,loss"},
		board:  {"strip,map,row,column,value,marked,value_name", ",truth,0,1,1,true,p"},
	} {
		text, err := f.CSV()
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range want {
			if !strings.Contains(text, line+"\n") {
				t.Errorf("no %q in\n%s", line, text)
			}
		}
	}
	text, err := curves.LaTeX()
	if err != nil || !strings.Contains(text, `\includegraphics[width=\linewidth]{loss}`) ||
		!strings.Contains(text, `Loss \& more`) {
		t.Errorf("%v: %s", err, text)
	}
	if _, err := Board("none", "", "", 0, 0, nil).CSV(); err == nil {
		t.Error("an impossible board has numbers")
	}
}
