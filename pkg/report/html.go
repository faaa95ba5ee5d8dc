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

// KernelFile is the path of ECharts on a Jupyter server, which serves the folders of kernels; the installer of revgnn's
// Go kernel puts it there.
const KernelFile = "kernelspecs/revgnn/echarts.min.js"

// public is the address of ECharts where neither page nor notebook server has it; the browser checks the hash.
const public = "https://cdnjs.cloudflare.com/ajax/libs/echarts/" + echarts.Version + "/echarts.min.js"

// addressed escapes an SVG picture for a data URL, a quarter shorter than base64.
var addressed = strings.NewReplacer("%", "%25", "#", "%23", "<", "%3C", ">", "%3E", `"`, "%22", "&", "%26",
	"\n", "%0A", "\r", "%0D")

// HTML is the static picture, and a script that replaces it by the interactive chart if it finds ECharts: on the page
// (globalThis.echarts), the notebook server, or a public address.
func (f *Figure) HTML() (string, error) { return f.html(public) }

// html is [Figure.HTML] with another last address; "" for a page that contains ECharts.
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

// Page is a complete web page that contains ECharts, and needs no other files and no network.
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

// prose is text on a page, between two HTML tags.
type prose struct{ text, open, close string }

const proseStyle = "color:" + ink + ";font-family:" + fontFamily

// Heading is the title of a page (level 1) or of a part of it (2).
func Heading(level int, text string) Item {
	size := 26
	if level > 1 {
		size = 19
	}
	return prose{text, fmt.Sprintf(`<h%d style="%s;font-size:%dpx;margin:24px 8px 8px">`, level, proseStyle, size),
		fmt.Sprintf("</h%d>", level)}
}

func Paragraph(text string) Item {
	const style = proseStyle + ";font-size:14px;line-height:1.45;max-width:54em;margin:8px"
	return prose{text, `<p style="` + style + `">`, "</p>"}
}

// Code is text to copy exactly as it is, such as a command.
func Code(text string) Item {
	return prose{text, `<pre style="color:` + ink + `;background:#f4f4f4;border-left:4px solid ` + ink +
		`;padding:8px 12px;margin:8px;font-size:13px;max-width:80em;white-space:pre-wrap">`, "</pre>"}
}

func (p prose) HTML() (string, error) {
	return p.open + html.EscapeString(p.text) + p.close + "\n", nil
}

func (p prose) Text() string { return p.text }
