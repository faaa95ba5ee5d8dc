package report

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/dop251/goja"

	"github.com/revgnn/revgnn/pkg/report/echarts"
	"github.com/revgnn/revgnn/pkg/report/raster"
)

// program is ECharts, parsed once per process; running it in a fresh machine per picture takes some 0.1 s and
// keeps the pictures independent of what was drawn before.
var program = sync.OnceValues(func() (*goja.Program, error) {
	source, err := echarts.Source()
	if err != nil {
		return nil, err
	}
	return goja.Compile("echarts.min.js", source, false)
})

// SVG draws the figure as a static picture, with ECharts' own renderer. It fails where ECharts is not installed,
// and says how to install it.
func (f *Figure) SVG() (string, error) {
	if err := f.check(); err != nil {
		return "", err
	}
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
	// ECharts schedules redraws that a static picture never needs.
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
	// Cells of a board are pixels of an image: enlarged, they must keep their edges.
	drawn := strings.ReplaceAll(v.String(), "<image ", `<image style="image-rendering:pixelated" `)
	return strings.TrimSuffix(strings.TrimSpace(drawn), "</svg>") + overlay + "</svg>", nil
}

// measure is how wide ECharts is to take a text for, in a font as CSS has it ("bold 13px Helvetica, ..."): as wide as
// our font for PNG has it, and browsers' for that name.
func measure(text, css string) float64 {
	size := 12.0
	for _, word := range strings.Fields(css) {
		if v, err := strconv.ParseFloat(strings.TrimSuffix(word, "px"), 64); err == nil &&
			strings.HasSuffix(word, "px") {
			size = v
		}
	}
	width, err := raster.Width(text, strings.Contains(css, "bold"))
	if err != nil {
		width = 0.6 * float64(len([]rune(text))) // a sign that the font lacks: about
	}
	return size * width
}
