// Package plain makes untrusted text, such as names from files, safe to show: the text cannot control the terminal.
package plain

import (
	"fmt"
	"strings"
	"unicode"
)

// Text returns s with escapes such as `\u001b` in place of invisible characters that change how text is shown. Such
// characters are line ends and other control characters (ESC, for example, begins a command to the terminal), and marks
// that reverse the direction of writing. Invalid UTF-8 becomes U+FFFD.
func Text(s string) string { return Keeping(s, "") }

// Keeping does the same as [Text], but leaves the characters in its second argument as they are.
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
		case r > 0xffff: // two escapes, for the two UTF-16 surrogates, as in JSON
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
