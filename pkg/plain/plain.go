// Package plain shows text of others, such as names from files, without letting it steer the terminal.
package plain

import (
	"fmt"
	"strings"
	"unicode"
)

// Text is text with every character that shows nothing itself but steers what is shown written as an escape: controls
// such as ESC (`\u001b`), which begins a terminal's commands, line ends, and marks that reverse the direction of
// writing. What is no UTF-8 becomes U+FFFD.
func Text(s string) string { return Keeping(s, "") }

// Keeping is [Text], but leaves the characters of keep as they are.
func Keeping(s, keep string) string {
	steers := func(r rune) bool {
		return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && !strings.ContainsRune(keep, r)
	}
	s = strings.ToValidUTF8(s, string(unicode.ReplacementChar))
	if strings.IndexFunc(s, steers) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !steers(r):
			b.WriteRune(r)
		case r > 0xffff: // in two halves, as JSON has it
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
