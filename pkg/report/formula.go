package report

import (
	"fmt"
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

func parseFormula(text string) ([]piece, error) {
	var pieces []piece
	for rest := text; rest != ""; {
		p := piece{level: map[byte]level{'_': subscript, '^': superscript}[rest[0]]}
		end := strings.IndexAny(rest, "_^")
		if p.level == onLine {
			if end < 0 {
				end = len(rest)
			}
			p.text, rest = rest[:end], rest[end:]
		} else {
			var ok bool
			if p.text, rest, ok = argument(rest[1:]); !ok {
				return nil, fmt.Errorf("in the formula %q a _ or ^ has nothing behind it, or a { no }", text)
			}
		}
		if odd := strings.Trim(p.text, known); odd != "" {
			return nil, fmt.Errorf("the formula %q holds %q, which formulas don't know: "+
				"see Formula for what they may hold", text, odd)
		}
		pieces = append(pieces, p)
	}
	return pieces, nil
}

// argument takes the subscript or superscript from the text that follows _ or ^: one character, or all in braces.
func argument(text string) (taken, rest string, ok bool) {
	if strings.HasPrefix(text, "{") {
		taken, rest, ok = strings.Cut(text[1:], "}")
		return taken, rest, ok && taken != ""
	}
	if text == "" {
		return "", "", false
	}
	return text[:1], text[1:], true
}
