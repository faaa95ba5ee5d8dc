package report

import (
	"encoding/json"
	"fmt"
	"image/color"
	"maps"
	"math"
	"strconv"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"
)

const (
	fontFamily = "Helvetica, Arial, sans-serif"
	ink        = "#222222"
	line       = "#777777"
	quiet      = "#5f5f5f"
	faint      = "#e3e3e3"
	markColour = "#d55e00"
)

// strokes are the ways to draw curves: colours that colour-blind readers can tell apart (Okabe and Ito, "Color
// Universal Design", 2008), and dashes and symbols for grey print. More curves begin again with the first.
var strokes = []struct {
	colour string
	dash   any // in the form that ECharts reads: a name, or the lengths of dashes and gaps
	symbol string
}{
	{"#0072b2", "solid", "circle"},
	{"#d55e00", "dashed", "triangle"},
	{"#009e73", "dotted", "rect"},
	{"#000000", []int{9, 3, 2, 3}, "diamond"},
	{"#cc79a7", []int{14, 4}, "circle"},
	{"#56b4e9", []int{9, 3, 2, 3, 2, 3}, "triangle"},
}

// shades are the colours of maps: "Blues" of colorbrewer2.org without the lightest, since white stands for missing
// values.
var shades = []string{"#deebf7", "#c6dbef", "#9ecae1", "#6baed6", "#4292c6", "#2171b5", "#08519c", "#08306b"}

// shadeAt is the colour of a map at a share of the scale, from 0 to 1.
func shadeAt(share float64) color.RGBA {
	at := share * float64(len(shades)-1)
	k := min(int(at), len(shades)-2)
	from, to := rgb(shades[k]), rgb(shades[k+1])
	between := func(a, b uint8) uint8 { return uint8(float64(a) + (at-float64(k))*(float64(b)-float64(a)) + 0.5) }
	return color.RGBA{R: between(from.R, to.R), G: between(from.G, to.G), B: between(from.B, to.B), A: 255}
}

// rgb parses a colour "#rrggbb".
func rgb(text string) (c color.RGBA) {
	if _, err := fmt.Sscanf(text, "#%02x%02x%02x", &c.R, &c.G, &c.B); err != nil {
		panic(err) // a colour in the source code of this package is wrong
	}
	return c
}

func text(size int) *opts.TextStyle {
	return &opts.TextStyle{Color: ink, FontSize: size, FontFamily: fontFamily, FontWeight: "normal"}
}

func boldText(size int) *opts.TextStyle {
	style := text(size)
	style.FontWeight = "bold"
	return style
}

// base is the option of a figure, as plain JSON values, with its title and the given parts, but without axes and series.
func base(title string, parts ...charts.GlobalOpts) map[string]any {
	chart := charts.NewLine()
	chart.SetGlobalOptions(append(parts,
		charts.WithInitializationOpts(opts.Initialization{BackgroundColor: "#ffffff"}),
		charts.WithTitleOpts(opts.Title{Title: title, TitleStyle: boldText(15), Left: "12", Top: "10"}),
		charts.WithAnimation(false))...)
	described := chart.JSON()
	for _, name := range []string{"toolbox", "xAxis", "yAxis", "series"} {
		delete(described, name)
	}
	text, err := json.Marshal(described)
	if err != nil {
		panic(err) // this cannot happen: the description has only numbers, text and nil
	}
	option := map[string]any{"textStyle": map[string]any{"fontFamily": fontFamily}}
	if err := json.Unmarshal(text, &option); err != nil {
		panic(err)
	}
	return option
}

// axis is an axis of grid i, with its own settings in place of those of all axes.
func axis(i int, own map[string]any) map[string]any {
	lines := map[string]any{"color": line}
	a := map[string]any{
		"nameTextStyle": map[string]any{"color": ink, "fontSize": 13},
		"axisLabel":     axisLabel(),
		"axisLine":      map[string]any{"show": true, "lineStyle": lines},
		"axisTick":      map[string]any{"lineStyle": lines},
	}
	if i > 0 {
		a["gridIndex"] = i
	}
	maps.Copy(a, own)
	return a
}

func axisLabel() map[string]any {
	return map[string]any{"show": true, "color": ink, "fontSize": 12, "fontFamily": fontFamily,
		"showMinLabel": nil, "showMaxLabel": nil} // nil: ECharts decides
}

// name names an axis; gap is the distance from its line.
func name(axis map[string]any, text string, gap int) {
	axis["name"], axis["nameLocation"], axis["nameGap"] = text, "middle", gap
}

func px(n int) string { return strconv.Itoa(n) }

// significant rounds v to n digits, since more would only take space in a saved notebook. NaN and infinities are nil,
// which ECharts does not draw.
func significant(v float64, n int) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	if v == 0 {
		return 0.0
	}
	unit := math.Pow(10, float64(n-1)-math.Floor(math.Log10(math.Abs(v))))
	if math.IsInf(unit, 0) {
		return 0.0 // too small to be told from zero
	}
	return math.Round(v*unit) / unit
}
