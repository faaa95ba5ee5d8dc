package files

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Printable makes untrusted text, such as names from files, safe for a terminal: invisible characters that change how
// text is shown, such as line ends, ESC and marks of the direction of writing, become escapes such as `\u001b`, except
// those to keep. Invalid UTF-8 becomes U+FFFD.
func Printable(s string, keep ...rune) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(s, string(unicode.ReplacementChar)) {
		switch {
		case !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || slices.Contains(keep, r):
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
