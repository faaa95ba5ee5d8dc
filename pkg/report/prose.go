package report

import (
	"fmt"
	"html"
)

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
