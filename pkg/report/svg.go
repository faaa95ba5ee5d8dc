package report

import (
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/dop251/goja"

	"github.com/revgnn/revgnn/pkg/report/echarts"
	"github.com/revgnn/revgnn/pkg/report/raster"
)

// program is the library ECharts, parsed once per process. For each picture, a new virtual machine for JavaScript runs
// the library. This takes some 0.1 s, but no picture can then depend on pictures that were drawn before.
var program = sync.OnceValues(func() (*goja.Program, error) {
	source, err := echarts.Source()
	if err != nil {
		return nil, err
	}
	return goja.Compile("echarts.min.js", source, false)
})

// SVG returns the figure as a static picture, drawn by ECharts. If ECharts is not installed, the error says how to
// install it. The first call draws the picture. Later calls draw it again only if the field Width or Height has
// changed.
func (f *Figure) SVG() (string, error) {
	if err := f.check(); err != nil {
		return "", err
	}
	f.drawn.Lock()
	defer f.drawn.Unlock()
	if f.drawn.svg == "" || f.drawn.width != f.Width || f.drawn.height != f.Height {
		svg, err := f.draw()
		if err != nil {
			return "", err
		}
		f.drawn.svg, f.drawn.width, f.drawn.height = svg, f.Width, f.Height
	}
	return f.drawn.svg, nil
}

// draw runs ECharts to draw the static picture.
func (f *Figure) draw() (string, error) {
	option, prepare, err := f.chart.static()
	if err != nil {
		return "", fmt.Errorf("report: figure %q: %w", f.ID, err)
	}
	option["animation"] = false
	overlay, _ := option["overlay"].(string)
	delete(option, "overlay")
	if prepare == "" {
		prepare = "() => {}"
	}
	text, err := f.marshal(option)
	if err != nil {
		return "", err
	}
	p, err := program()
	if err != nil {
		return "", err
	}
	vm := goja.New()
	// ECharts starts timers to draw again later, which a static picture does not need. Timers therefore do nothing
	// here.
	vm.Set("setTimeout", func(goja.Value) int { return 0 })
	vm.Set("clearTimeout", func(goja.Value) {})
	vm.Set("measure", measure)
	if _, err := vm.RunProgram(p); err != nil {
		return "", fmt.Errorf("report: figure %q: ECharts %s does not start: %w", f.ID, echarts.Version, err)
	}
	v, err := vm.RunString(fmt.Sprintf(`
		echarts.setPlatformAPI({measureText: (text, font) => ({width: measure(text, font)})});
		const option = %[3]s;
		(%[4]s)(option);
		const chart = echarts.init(null, null, {renderer: 'svg', ssr: true, width: %[1]d, height: %[2]d});
		chart.setOption(option);
		chart.renderToSVGString();`, f.Width, f.Height, text, prepare))
	if err != nil {
		return "", fmt.Errorf("report: figure %q: ECharts can't draw it: %w", f.ID, err)
	}
	// A map is an image with one pixel for each cell. The edges of the pixels must stay sharp when the image is
	// enlarged.
	fit := fitted(strings.ReplaceAll(v.String(), "<image ", `<image style="image-rendering:pixelated" `))
	return strings.TrimSuffix(strings.TrimSpace(fit), "</svg>") + overlay + "</svg>", nil
}

// PNG is the static picture in pixels: scale 1 has the size on a page; 3 is enough for print.
func (f *Figure) PNG(scale float64) ([]byte, error) {
	return drawn(f.SVG, "figure", f.ID, func(svg string) ([]byte, error) { return raster.PNG(svg, scale) })
}

// PDF is the static picture as a page of its size.
func (f *Figure) PDF() ([]byte, error) {
	return drawn(f.SVG, "figure", f.ID, raster.PDF)
}

// drawn is the picture of a figure or table in another format.
func drawn(svg func() (string, error), what, id string, format func(svg string) ([]byte, error)) ([]byte, error) {
	picture, err := svg()
	if err != nil {
		return nil, err
	}
	out, err := format(picture)
	if err != nil {
		return nil, fmt.Errorf("report: %s %q: %w", what, id, err)
	}
	return out, nil
}

// textElement matches a line of text in the SVG that ECharts writes.
var textElement = regexp.MustCompile(`<text ([^>]*)>([^<]+)</text>`)

// fitted writes the width of each line of text into an SVG picture. ECharts placed the texts for these widths. If a
// browser has another font in place of Helvetica, it stretches or narrows each text to the given width. Without the
// widths, texts could overlap in such a browser.
func fitted(svg string) string {
	return textElement.ReplaceAllStringFunc(svg, func(element string) string {
		parts := textElement.FindStringSubmatch(element)
		width := measure(strings.TrimSpace(html.UnescapeString(parts[2])), parts[1])
		return fmt.Sprintf(`<text textLength="%.1f" lengthAdjust="spacingAndGlyphs" %s>%s</text>`, width, parts[1],
			parts[2])
	})
}

// fontSize matches the size of a font, such as 13px, in CSS.
var fontSize = regexp.MustCompile(`\b([0-9.]+)px`)

// measure returns the width of a text in a CSS font ("bold 13px Helvetica, ..."), in CSS pixels. ECharts calls this
// function to place text. The function measures the text in the font of our PNG pictures. The characters of this font
// are as wide as those of Helvetica.
func measure(text, css string) float64 {
	size := 12.0
	if found := fontSize.FindStringSubmatch(css); found != nil {
		if v, err := strconv.ParseFloat(found[1], 64); err == nil {
			size = v
		}
	}
	return size * widthOf(text, strings.Contains(css, "bold"))
}

// widthOf returns the width of a line of text in a font of size 1.
func widthOf(text string, bold bool) float64 {
	width, err := raster.Width(text, bold)
	if err != nil {
		return 0.6 * float64(len([]rune(text))) // an estimate, since the font lacks a character
	}
	return width
}
