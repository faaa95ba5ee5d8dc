package paper

import (
	"bytes"
	"encoding/json"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/revgnn/revgnn/pkg/report/echarts"
	"github.com/revgnn/revgnn/pkg/runs"
)

// TestFrontPage: the front page has the IDs of all runs from which verdicts follow. The links on this page and on the
// pages of two tables lead to files and places that exist.
func TestFrontPage(t *testing.T) {
	t.Parallel()
	p := Quick()
	s := runs.Scope{Profile: p.Profile}
	records := allRuns(t, s, p, Items())
	v := &View{runs.NewView(s, records), p}
	card := judge(v)
	names := []string{"table2", "table5"}
	if _, err := echarts.Path(); err == nil {
		names = append(names, "fig5") // a figure can only be drawn if ECharts is installed
	}
	items, err := Choose(names)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if names, err = Write(dir, p, card, build(v, items)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for _, j := range card.Claims {
		for _, id := range j.Records {
			if !strings.Contains(page, id) {
				t.Errorf("%s: the page lacks the record %s", j.ID, id)
			}
		}
	}
	if !strings.Contains(html.UnescapeString(page), p.About) {
		t.Errorf("the page does not say what the profile is: %s", p.About)
	}
	for _, want := range []string{"xla:cpu", "Who ran what",
		`title="GCN&#43;ReP reaches 96.05 ± 0.19`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	anchors := regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(page, -1)
	for _, anchor := range anchors {
		if !strings.Contains(page, `id="`+anchor[1]+`"`) {
			t.Errorf("there is no %s on the page", anchor[1])
		}
	}
	if len(anchors) < len(card.Claims)/2 {
		t.Errorf("%d links within the page", len(anchors))
	}
	for _, name := range []string{"index", "table2", "table5"} {
		text, err := os.ReadFile(filepath.Join(dir, name+".html"))
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range regexp.MustCompile(`(?:href|src)="([^"#]+)"`).FindAllStringSubmatch(string(text), -1) {
			if strings.HasPrefix(link[1], "data:image/") || link[1] == "echarts.min.js" {
				continue // this is no link, but a picture inside the page, or the library
			}
			if _, err := os.Stat(filepath.Join(dir, link[1])); err != nil {
				t.Errorf("%s.html: a link leads nowhere: %v", name, err)
			}
		}
		for _, want := range []string{"table2.svg", "table2.png", "table2.pdf", "table2.tex", "table2.csv", "index.html",
			"revgnn reproduce table2"} {
			if name == "table2" && !strings.Contains(string(text), want) {
				t.Errorf("its page lacks %q", want)
			}
		}
	}
	if strings.Contains(page, "http") {
		t.Error("the page needs the network")
	}
	var again Scorecard
	text, err = os.ReadFile(filepath.Join(dir, "claims.json"))
	if err == nil {
		err = json.Unmarshal(text, &again)
	}
	if err != nil || len(again.Claims) != len(card.Claims) {
		t.Errorf("claims.json has %d claims: %v; of %q", len(again.Claims), err, names)
	}
}

// TestFrontPageWithoutRuns: without runs, the front page says that there are none. All verdicts on it are "not run".
func TestFrontPageWithoutRuns(t *testing.T) {
	p := Quick()
	card := judge(&View{runs.NewView(runs.Scope{Profile: p.Profile}, nil), p})
	page, err := look(card, nil, false).part("front")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []Verdict{Reproduced, Weaker, NotReproduced} {
		if strings.Contains(page, `class="badge" style="`+string(v.Style())) {
			t.Errorf("something is %s", v)
		}
	}
	if !strings.Contains(page, "No runs yet.") {
		t.Error("the page does not say that there are no runs")
	}
}

func TestScorecardAsText(t *testing.T) {
	t.Parallel()
	p := Quick()
	s := runs.Scope{Profile: p.Profile}
	card := judge(&View{runs.NewView(s, allRuns(t, s, p, Items())), p})
	var text bytes.Buffer
	card.Text(&text)
	one, err := card.Choose([]string{"table2/gcn+rep/minesweeper", "time/"})
	if err != nil || len(one.Claims) != 6 {
		t.Fatalf("%d claims were chosen: %v", len(one.Claims), err)
	}
	one.Text(&text)
	for _, want := range []string{"at the profile quick", p.About[:40], "within one std", "not reproduced",
		"table2/gcn+rep/", "3 splits × 1 seed", one.Claims[0].Records[0]} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text lacks %q", want)
		}
	}
	for _, line := range strings.Split(text.String(), "\n") {
		if utf8.RuneCountInString(line) > 120 {
			t.Errorf("a long line: %s", line)
		}
	}
	if _, err := card.Choose([]string{"table9"}); err == nil || !strings.Contains(err.Error(), `"table9"`) {
		t.Errorf("got %v", err)
	}
}
