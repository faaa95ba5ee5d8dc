package report

import (
	"fmt"
	"regexp"
	"strings"
)

// piece is a part of a formula on one level.
type piece struct {
	text  string
	level level
}

type level int

const (
	onLine level = iota
	subscript
	superscript
)

// known are the characters of a formula, beside _ and ^ for subscripts and superscripts, and braces around these.
const known = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 +-=|()[]/.,<>"

var formulaPiece = regexp.MustCompile(`^(?:([_^])(?:\{([^}]+)\}|([^{]))|[^_^]+)`)

func parseFormula(text string) ([]piece, error) {
	var pieces []piece
	for rest := text; rest != ""; {
		found := formulaPiece.FindStringSubmatch(rest)
		if found == nil {
			return nil, fmt.Errorf("in the formula %q a _ or ^ has nothing behind it, or a { no }", text)
		}
		p := piece{found[0], map[string]level{"_": subscript, "^": superscript}[found[1]]}
		if p.level != onLine {
			p.text = found[2] + found[3]
		}
		if odd := strings.Trim(p.text, known); odd != "" {
			return nil, fmt.Errorf("the formula %q holds %q, which formulas don't know: "+
				"see Formula for what they may hold", text, odd)
		}
		pieces, rest = append(pieces, p), rest[len(found[0]):]
	}
	return pieces, nil
}
