package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pages returns the paths of all Markdown files in the root of the checkout and in its folder docs.
func pages(t *testing.T) (list []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, found...)
	}
	if len(list) < 10 {
		t.Fatalf("only %d pages are found", len(list))
	}
	return list
}

// root is the checkout.
const root = ".."

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	fence   = regexp.MustCompile("(?ms)^[ ]*```.*?^[ ]*```[ ]*$")
	inline  = regexp.MustCompile("`[^`\n]*`")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)
)

// TestLinks checks the links on all pages. The files and headings that they lead to must exist. Addresses on the web
// are not checked.
func TestLinks(t *testing.T) {
	for _, page := range pages(t) {
		text := inline.ReplaceAllStringFunc(fence.ReplaceAllString(read(t, page), ""), func(code string) string {
			return "`" + strings.Repeat("x", len(code)-2) + "`"
		})
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			target := found[1]
			if strings.HasPrefix(target, "https://") {
				continue
			}
			if strings.Contains(target, "://") {
				t.Errorf("%s: %s is neither a file nor at https", page, target)
				continue
			}
			file, anchor, _ := strings.Cut(target, "#")
			at := page
			if file != "" {
				at = filepath.Join(filepath.Dir(page), file)
			}
			if _, err := os.Stat(at); err != nil {
				t.Errorf("%s: nothing is at %s", page, target)
			} else if anchor != "" && !anchors(read(t, at))[anchor] {
				t.Errorf("%s: %s has no heading %q", page, at, anchor)
			}
		}
	}
}

// anchors returns the anchors of all headings of a Markdown page. An anchor is what a link has after "#". It is the
// heading in lower case, with "-" in place of spaces and without punctuation.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, h := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case strings.ContainsRune("`*.,:;()[]/'\"?!+=&", r):
				return -1
			}
			return r
		}, strings.ToLower(h[1]))
		all[name] = true
	}
	return all
}
