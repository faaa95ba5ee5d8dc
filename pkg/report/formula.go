package report

import (
	"fmt"
	"strings"
)

// piece is a part of a formula whose characters have the same level. Either all characters of a piece stand on the
// line, or all are subscripts, or all are superscripts.
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

// known has the characters that a formula may contain. A formula may also contain _ before a subscript, ^ before a
// superscript, and braces around a subscript or superscript of several characters.
const known = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 +-=|()[]/.,<>"

// parseFormula splits a formula into pieces. It returns an error if the formula contains anything that the comment of
// [Formula] does not name.
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

// argument splits the text that follows a _ or ^ into the subscript or superscript and the rest. The subscript or
// superscript is either one character, or everything in a pair of braces.
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
