package report

import (
	"fmt"
	"strings"
	"sync"

	"github.com/dop251/goja"

	"github.com/revgnn/revgnn/pkg/report/echarts"
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
	option, err := f.chart.static()
	if err != nil {
		return "", fmt.Errorf("report: figure %q: %w", f.ID, err)
	}
	option["animation"] = false
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
	if _, err := vm.RunProgram(p); err != nil {
		return "", fmt.Errorf("report: figure %q: ECharts %s does not start: %w", f.ID, echarts.Version, err)
	}
	v, err := vm.RunString(fmt.Sprintf(`
		const chart = echarts.init(null, null, {renderer: 'svg', ssr: true, width: %d, height: %d});
		chart.setOption(%s);
		chart.renderToSVGString();`, f.Width, f.Height, text))
	if err != nil {
		return "", fmt.Errorf("report: figure %q: ECharts can't draw it: %w", f.ID, err)
	}
	// Cells of a board are pixels of an image: enlarged, they must keep their edges.
	return strings.ReplaceAll(v.String(), "<image ", `<image style="image-rendering:pixelated" `), nil
}
