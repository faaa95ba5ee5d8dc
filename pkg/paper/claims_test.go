package paper

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/docs/pagetest"
	"github.com/revgnn/revgnn/pkg/runs"
)

// needs are the parameters of each check.
var needs = map[string]string{
	"cell":       "table reproduced weaker",
	"gain":       "table significance share seeds",
	"unchanged":  "table points significance seeds",
	"most":       "table least",
	"largest":    "table model least",
	"place":      "table model places rows significance seeds",
	"trend":      "process model datasets layers significance",
	"gsl-below":  "model below layers lipschitz",
	"gsl-above":  "model depths after above weaker",
	"gsl-less":   "model plain lipschitz",
	"spread":     "network process factor",
	"directions": "factor",
	"inversion":  "reproduced weaker",
	"converges":  "iterations reproduced weaker",
	"line":       "above weaker",
	"power":      "of reproduced weaker",
	"statistics": "",
}

// choices are the parameters that have one of a few values; shares are those that lie above 0 and not above 1.
var (
	choices = map[string][]string{"table": {"table2", "table3", "table6"}, "process": {"forward", "reverse"},
		"of": {"time", "memory"}, "network": {"reverse", "plain"}}
	shares = []string{"significance", "share", "lipschitz", "below", "above"}
)

// problem says which field of a claim is missing or unknown, or which parameter of its check is missing, unknown or
// impossible.
func problem(c Claim, groups []ClaimGroup) error {
	switch {
	case c.ID == "" || strings.ContainsAny(c.ID, "/ "):
		return fmt.Errorf("it needs an id without blanks and slashes")
	case c.Where == "" || c.Says == "" || len(c.Numbers) == 0 || c.With == nil:
		return fmt.Errorf("it needs what the paper says and where, our numbers, and parameters")
	case !slices.ContainsFunc(groups, func(g ClaimGroup) bool { return g.Name == c.Group }):
		return fmt.Errorf("there is no group %q", c.Group)
	case !slices.ContainsFunc(Items(), func(it Item) bool { return it.Name == c.Shown }):
		return fmt.Errorf("it is shown in %q, which is neither a table nor a figure", c.Shown)
	}
	names := strings.Fields(needs[c.Check])
	for _, name := range names {
		if c.With[name] == nil {
			return fmt.Errorf("the check %s needs %s", c.Check, name)
		}
	}
	for name, value := range c.With {
		if name != "falls" && !slices.Contains(names, name) {
			return fmt.Errorf("the check %s has no %s", c.Check, name)
		}
		if x, is := value.(float64); is && (!(x > 0) || x > 1 && slices.Contains(shares, name)) {
			return fmt.Errorf("%s is %g: give a number above 0, and a share of 1 at most", name, x)
		}
		text, is := value.(string)
		if is && (text == "" || choices[name] != nil && !slices.Contains(choices[name], text)) {
			return fmt.Errorf("%s is %q: choose from %s", name, text, strings.Join(choices[name], ", "))
		}
	}
	r := c.rule
	switch {
	case r.Reproduced > 0 && r.Weaker < r.Reproduced, r.Above > 0 && r.Weaker > r.Above:
		return fmt.Errorf("the limit %g for weaker is stricter than that for reproduced", r.Weaker)
	case r.Factor > 0 && r.Factor <= 1:
		return fmt.Errorf("factor is %g: give one above 1", r.Factor)
	case r.Network == "plain" && r.Process != "forward":
		return fmt.Errorf("the plain network has no %s process", r.Process)
	case r.Depths != nil && (len(r.Depths) == 0 || slices.Min(r.Depths) <= r.After):
		return fmt.Errorf("depths are %v: give some above %d", r.Depths, r.After)
	case r.Table != "" && r.Model != "" && published[Performance](r.Table).row(r.Model) == nil:
		return fmt.Errorf("%s has no model %q", r.Table, r.Model)
	}
	for dataset, place := range r.Places {
		if !slices.Contains(published[Performance](r.Table).Columns, dataset) || place < 1 || place > r.Rows {
			return fmt.Errorf("place %d of %d rows on %q: give places from 1 on datasets of %s", place, r.Rows, dataset,
				r.Table)
		}
	}
	return nil
}

// TestClaimsFile: no claim has a [problem], each check is used by a claim, every claim has cases, every group has
// claims, and no two cases have the same ID.
func TestClaimsFile(t *testing.T) {
	used, ids, groups := map[string]bool{}, map[string]bool{}, map[string]bool{}
	p := Paper()
	v := &View{runs.NewView(runs.Scope{Profile: p.Profile}, nil), p}
	all := paperClaims()
	for _, c := range all.Claims {
		if err := problem(c, all.Groups); err != nil {
			t.Errorf("claim %q: %v", c.ID, err)
		}
		used[c.Check], groups[c.Group] = true, true
		cases := c.cases(v)
		if len(cases) == 0 {
			t.Errorf("%s has no cases", c.ID)
		}
		for _, one := range cases {
			if ids[c.id(one)] {
				t.Errorf("two claims are called %s", c.id(one))
			}
			ids[c.id(one)] = true
		}
	}
	for name := range checks {
		if !used[name] {
			t.Errorf("no claim uses the check %s", name)
		}
	}
	for _, g := range all.Groups {
		if !groups[g.Name] || g.Title == "" || g.About == "" {
			t.Errorf("the group %+v", g)
		}
	}
	for id, n := range map[string]int{"table2/": 22 * 7, "table6/": 13 * 5, "gain/": 21, "unchanged/": 15, "place/": 5,
		"inversion/": 8, "table5/": 12} {
		got := 0
		for one := range ids {
			if strings.HasPrefix(one, id) {
				got++
			}
		}
		if got != n {
			t.Errorf("%d claims begin with %s, not %d", got, id, n)
		}
	}
}

func TestClaimOfThePage(t *testing.T) {
	example := pagetest.Read(t, "claims.md").Block("json", `"check"`)
	all, err := readClaims([]byte(`{"claims": [` + example + `]}`))
	if err == nil {
		err = problem(all.Claims[0], paperClaims().Groups)
	}
	if err != nil {
		t.Error(err)
	}
}

// TestClaimsAreReadStrictly: unknown names and fields in the file of claims are found, and so are missing or impossible
// parameters.
func TestClaimsAreReadStrictly(t *testing.T) {
	text, err := data.Paper("claims")
	if err != nil {
		t.Fatal(err)
	}
	for old, now := range map[string]string{
		`"check": "cell"`:                   `"check": "cells"`,
		`"group": "depth"`:                  `"group": "deep"`,
		`"shown": "fig2"`:                   `"shown": "fig7"`,
		`"id": "table6"`:                    `"id": "table2"`,
		`"id": "table5"`:                    `"id": "table5/all"`,
		`"where": "figure 2"`:               `"where": ""`,
		`"where": "figure 4"`:               `"were": "figure 4"`,
		`"reproduced": 1, "weaker": 2`:      `"reproduced": 2, "weaker": 1`,
		`"reproduced": 2, "weaker": 10`:     `"weaker": 10`,
		`"above": 0.99, "weaker"`:           `"above": 99, "weaker"`,
		`"significance": 0.05, "share"`:     `"significance": 5, "share"`,
		`"share": 0.5`:                      `"part": 0.5`,
		`"least": 4`:                        `"least": 0`,
		`"points": 1.2`:                     `"points": 0`,
		`"model": "gcn+rep", "rows": 10`:    `"model": "gnn", "rows": 10`,
		`"amazon-ratings": 2`:               `"amazon": 2`,
		`"process": "reverse", "model"`:     `"process": "backward", "model"`,
		`"layers": 1024, "lipschitz"`:       `"layers": 0, "lipschitz"`,
		`"depths": [16, 32, 64]`:            `"depths": [4]`,
		`"plain": "gcn"`:                    `"plain": ""`,
		`"network": "plain"`:                `"network": "deep"`,
		`"with": {"factor": 1.2}`:           `"with": {"factor": 0.5}`,
		`"iterations": 7`:                   `"iterations": 0`,
		`"of": "memory"`:                    `"of": "bytes"`,
		`"check": "statistics"`:             `"check": "line"`,
		`"table": "table2", "significance"`: `"table": "table1", "significance"`,
	} {
		changed := strings.Replace(string(text), old, now, 1)
		if changed == string(text) {
			t.Fatalf("no %s in data/paper/claims.json", old)
		}
		all, err := readClaims([]byte(changed))
		ids := map[string]bool{}
		for _, c := range all.Claims {
			if ids[c.ID] {
				err = fmt.Errorf("two claims are called %q", c.ID)
			}
			err, ids[c.ID] = cmp.Or(err, problem(c, all.Groups)), true
		}
		if err == nil {
			t.Errorf("%s was accepted", now)
		}
	}
}

// TestClaimsAskForNoOtherRuns: every run that a claim needs is also needed by a table or figure.
func TestClaimsAskForNoOtherRuns(t *testing.T) {
	t.Parallel()
	p := Paper()
	s := runs.Scope{Profile: p.Profile}
	ours, theirs := runs.NewView(s, nil), runs.NewView(s, nil)
	judge(&View{ours, p})
	Work(p, Items())(theirs)
	asked := map[string]bool{}
	for _, step := range theirs.Steps() {
		asked[step.Key] = true
	}
	if len(ours.Steps()) < 1000 {
		t.Errorf("claims ask for %d runs only", len(ours.Steps()))
	}
	for _, step := range ours.Steps() {
		if !asked[step.Key] {
			t.Errorf("only claims ask for %s", step.Task)
		}
	}
}

// TestEveryVerdictHasRuns: each verdict except "not run" follows from recorded runs. A case with the verdict "not run"
// has neither a number of ours nor a p-value, unless it says that its runs are too few to decide. The test makes the
// scorecard three times: without records, with some of the records, and with all of them.
func TestEveryVerdictHasRuns(t *testing.T) {
	t.Parallel()
	p := Quick()
	s := runs.Scope{Profile: p.Profile}
	all := allRuns(t, s, p, Items())
	half := runs.Records{}
	for key, r := range all {
		if key[0] < '8' {
			half[key] = r
		}
	}
	for i, records := range []runs.Records{nil, half, all} {
		card := judge(&View{runs.NewView(s, records), p})
		known := map[string]bool{}
		for _, r := range records {
			known[r.ID] = true
		}
		for _, j := range card.Claims {
			number := j.Ours != nil || j.P != nil
			if (j.Verdict != NotRun || number) && len(j.Records) == 0 ||
				j.Verdict == NotRun && number && !strings.Contains(j.Numbers, "too few to decide") {
				t.Errorf("%d: %+v", i, j)
			}
			for _, id := range j.Records {
				if !known[id] {
					t.Errorf("%s has a record %s that nobody knows", j.ID, id)
				}
			}
		}
		if n := card.Counts[NotRun]; records == nil && n != len(card.Claims) || i == 2 && n == len(card.Claims) {
			t.Errorf("%d: %v", i, card.Counts)
		}
	}
}
