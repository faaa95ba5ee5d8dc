package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"html"
	"strings"

	"github.com/revgnn/revgnn/pkg/report/echarts"
)

//go:embed figure.js
var figureJS string

// KernelFile is the path of the library ECharts on a Jupyter server, relative to the base address of the server. A
// Jupyter server serves the folder of each kernel. The installer of revgnn's Go kernel copies the library into the
// folder of this kernel.
const KernelFile = "kernelspecs/revgnn/echarts.min.js"

// public is the address from which ECharts is loaded if neither the page nor the notebook server has a copy of it. The
// browser checks the hash of the loaded file.
const public = "https://cdnjs.cloudflare.com/ajax/libs/echarts/" + echarts.Version + "/echarts.min.js"

// addressed escapes an SVG picture for a data URL in an HTML attribute. The result is a quarter shorter than the
// picture in base64.
var addressed = strings.NewReplacer("%", "%25", "#", "%23", "<", "%3C", ">", "%3E", `"`, "%22", "&", "%26",
	"\n", "%0A", "\r", "%0D")

// HTML returns the figure for a web page: the static picture, and a script that replaces it by the interactive chart if
// the script finds ECharts. The script looks for ECharts on the page itself (globalThis.echarts), then on the notebook
// server, then at a public address. If scripts do not run, or if ECharts is not found, the static picture stays.
func (f *Figure) HTML() (string, error) { return f.html(public) }

// html returns the figure for a web page, as [Figure.HTML] does: the static picture, and a script that looks for
// ECharts to draw the interactive chart. The argument called last is the last address at which the script looks. This
// argument is "" for a page that contains ECharts.
func (f *Figure) html(last string) (string, error) {
	svg, err := f.SVG()
	if err != nil {
		return "", err
	}
	option, prepare := f.chart.compact()
	text, err := f.marshal(option)
	if err != nil {
		return "", err
	}
	if prepare == "" {
		prepare = "null"
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<div id="%s" class="revgnn-figure" `+
		`style="position:relative;width:%dpx;max-width:100%%;overflow:hidden;background:#fff">`,
		html.EscapeString(f.ID), f.Width)
	fmt.Fprintf(&b,
		`<img width="%d" height="%d" style="max-width:100%%;height:auto" alt="%s" src="data:image/svg+xml,%s"></div>`,
		f.Width, f.Height, html.EscapeString(f.Text()), addressed.Replace(svg))
	fmt.Fprintf(&b, "\n<script>(%s)(%q,%d,%d,%q,%q,%q,\n%s,\n%s);</script>\n", strings.TrimSpace(figureJS),
		f.ID, cmp.Or(f.liveWidth, f.Width), cmp.Or(f.liveHeight, f.Height), KernelFile, last,
		echarts.Integrity(), text, prepare)
	return b.String(), nil
}

// Page returns a complete web page of figures and tables. The page contains ECharts, and therefore needs no other files
// and no network.
func Page(title string, items ...Item) (string, error) {
	library, err := echarts.Source()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>%s</title>
<script>%s</script>
</head>
<body style="margin:24px;background:#fff">
`, html.EscapeString(title), library)
	for _, item := range items {
		text, err := "", error(nil)
		if f, ok := item.(*Figure); ok {
			text, err = f.html("")
		} else {
			text, err = item.HTML()
		}
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	b.WriteString("</body>\n</html>\n")
	return b.String(), nil
}
