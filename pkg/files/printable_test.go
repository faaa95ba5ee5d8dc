package files

import (
	"encoding/json"
	"testing"
	"unicode/utf8"
)

func TestPrintable(t *testing.T) {
	for from, want := range map[string]string{
		"a – b …": "a – b …", "\x1b[31mred\a": `\u001b[31mred\u0007`, "two\nlines": `two\u000alines`,
		"\u009b1m": `\u009b1m`, "\u202eback": `\u202eback`, "\x9b": "\ufffd", "\U000e0001": `\udb40\udc01`,
	} {
		if got := Printable(from); got != want {
			t.Errorf("%q becomes %q, want %q", from, got, want)
		}
	}
	if got := Printable("a\tb\x1b\n", '\t', '\n'); got != "a\tb\\u001b\n" {
		t.Errorf("got %q", got)
	}
}

// FuzzPrintable checks that Printable turns a JSON document into a JSON document with the same content.
func FuzzPrintable(f *testing.F) {
	f.Add("\x1b[2J\u202e\u2028\U000e0001\x7f")
	f.Fuzz(func(t *testing.T, s string) {
		b, err := json.MarshalIndent(map[string]string{"a": s}, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		var before, after map[string]string
		shown := Printable(string(b), '\t', '\n')
		if json.Unmarshal(b, &before) != nil || json.Unmarshal([]byte(shown), &after) != nil ||
			before["a"] != after["a"] || !utf8.ValidString(shown) {
			t.Errorf("%q becomes %q", b, shown)
		}
	})
}
