package paper

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/files"
)

// Claim is an entry of data/paper/claims.json: a statement of the paper, and the rule that decides whether it holds,
// for one or several cases, such as the cells of a table.
type Claim struct {
	ID    string `json:"id"`
	Group string `json:"group"`
	// Where is the place in the paper, such as "figure 2"; Shown is the item whose page shows the runs, such as "fig2".
	Where string `json:"where"`
	Shown string `json:"shown"`
	// Says is the statement; Numbers are the clauses of the sentence on our numbers, and Each those for one entry of a
	// value that is a list.
	Says    string  `json:"says"`
	Numbers clauses `json:"numbers"`
	Each    clauses `json:"each"`
	// Check names the rule, such as "cell"; With has its parameters, such as limits.
	Check string `json:"check"`
	With  values `json:"with"`

	rule rule
}

// ClaimGroup is a group of claims; About explains its verdicts.
type ClaimGroup struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	About string `json:"about"`
}

type claims struct {
	Groups []ClaimGroup `json:"groups"`
	Claims []Claim      `json:"claims"`
}

// clauses are the parts of a sentence. A clause holds names of values with their formats, such as "{mean:%.2f} of
// {model}". It is left out if a value is missing; "{?name}" prints nothing and only asks for the value.
type clauses []string

// values has numbers and texts by name, for [clauses].
type values map[string]any

var valueName = regexp.MustCompile(`\{(\??)(\w+):?([^}]*)\}`)

func (c clauses) fill(each clauses, all values) string {
	var sentence strings.Builder
	for _, clause := range c {
		complete := true
		text := valueName.ReplaceAllStringFunc(clause, func(found string) string {
			parts := valueName.FindStringSubmatch(found)
			value, has := all[parts[2]]
			if complete = complete && has; !has || parts[1] != "" {
				return ""
			}
			if list, is := value.([]values); is {
				var texts []string
				for _, one := range list {
					texts = append(texts, each.fill(nil, one))
				}
				return strings.Join(texts, ", ")
			}
			if parts[3] == "" {
				return fmt.Sprint(value)
			}
			return fmt.Sprintf(parts[3], value)
		})
		if complete {
			sentence.WriteString(text)
		}
	}
	return sentence.String()
}

// rule has the parameters of a check. Each check needs some of them; see [checks].
type rule struct {
	Table    string         `json:"table"`
	Model    string         `json:"model"`
	Plain    string         `json:"plain"`   // the model without a reverse process
	Network  string         `json:"network"` // of figure 1: reverse, or plain for that without a reverse process
	Process  string         `json:"process"` // forward or reverse
	Of       string         `json:"of"`      // time or memory
	Datasets []string       `json:"datasets"`
	Depths   []int          `json:"depths"`
	Places   map[string]int `json:"places"` // published rank of Model on each dataset
	// The least number of something that a verdict needs, except After (a layer) and Iterations (an iteration).
	Layers     int `json:"layers"`
	After      int `json:"after"`
	Iterations int `json:"iterations"`
	Least      int `json:"least"` // datasets
	Rows       int `json:"rows"`  // models that were run
	Seeds      int `json:"seeds"` // trainings on each split
	// Limits
	Reproduced   float64 `json:"reproduced"`
	Weaker       float64 `json:"weaker"`
	Below        float64 `json:"below"`
	Above        float64 `json:"above"`
	Factor       float64 `json:"factor"`
	Points       float64 `json:"points"`
	Share        float64 `json:"share"`
	Significance float64 `json:"significance"`
	Lipschitz    float64 `json:"lipschitz"`
	Falls        bool    `json:"falls"` // optional: the number must fall, not rise
}

// check is a kind of rule: the parameters that it needs, and the cases into which it splits a claim.
type check struct {
	needs string
	cases func(v *View, r rule) []claimCase
}

var checks = map[string]check{
	"cell":       {"table reproduced weaker", cellCases},
	"gain":       {"table significance share seeds", gainCases},
	"unchanged":  {"table points significance seeds", unchangedCases},
	"most":       {"table least", mostCases},
	"largest":    {"table model least", largestCases},
	"place":      {"table model places rows significance seeds", placeCases},
	"trend":      {"process model datasets layers significance", trendCases},
	"gsl-below":  {"model below layers lipschitz", gslBelowCases},
	"gsl-above":  {"model depths after above weaker", gslAboveCases},
	"gsl-less":   {"model plain lipschitz", gslLessCases},
	"spread":     {"network process factor", spreadCases},
	"directions": {"factor", directionCases},
	"inversion":  {"reproduced weaker", inversionCases},
	"converges":  {"iterations reproduced weaker", convergenceCases},
	"line":       {"above weaker", lineCases},
	"power":      {"of reproduced weaker", powerCases},
	"statistics": {"", statisticsCases},
}

// choices are the parameters that have one of a few values; shares are those that lie above 0 and not above 1.
var (
	choices = map[string][]string{"table": {"table2", "table3", "table6"}, "process": {"forward", "reverse"},
		"of": {"time", "memory"}, "network": {"reverse", "plain"}}
	shares = []string{"significance", "share", "lipschitz", "below", "above"}
)

// problem says which parameters of the claim's check are missing, unknown or impossible.
func (c *Claim) problem() error {
	needs := strings.Fields(checks[c.Check].needs)
	for _, name := range needs {
		if c.With[name] == nil {
			return fmt.Errorf("the check %s needs %s", c.Check, name)
		}
	}
	for name, value := range c.With {
		if name != "falls" && !slices.Contains(needs, name) {
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
		if published[Performance](r.Table).column(dataset) < 0 || place < 1 || place > r.Rows {
			return fmt.Errorf("place %d of %d rows on %q: give places from 1 on datasets of %s", place, r.Rows, dataset,
				r.Table)
		}
	}
	return nil
}

func paperClaims() claims {
	text, err := data.Paper("claims")
	var c claims
	if err == nil {
		c, err = readClaims(text)
	}
	if err != nil {
		panic(fmt.Errorf("data/paper/claims.json is damaged (%w): rebuild from a clean checkout", err))
	}
	return c
}

// readClaims reads claims from JSON. Unknown fields, groups, items and checks are errors.
func readClaims(text []byte) (c claims, err error) {
	if err := files.Strict(text, &c); err != nil {
		return c, err
	}
	ids := map[string]bool{}
	for i := range c.Claims {
		one := &c.Claims[i]
		if err := one.read(c.Groups); err != nil {
			return c, fmt.Errorf("claim %q: %w", one.ID, err)
		}
		if ids[one.ID] {
			return c, fmt.Errorf("two claims are called %q", one.ID)
		}
		ids[one.ID] = true
	}
	return c, nil
}

// read checks the fields, and sets c.rule.
func (c *Claim) read(groups []ClaimGroup) error {
	switch {
	case c.ID == "" || strings.ContainsAny(c.ID, "/ "):
		return fmt.Errorf("it needs an id without blanks and slashes")
	case c.Where == "" || c.Says == "" || len(c.Numbers) == 0 || c.With == nil:
		return fmt.Errorf("it needs what the paper says and where, our numbers, and parameters")
	case !slices.ContainsFunc(groups, func(g ClaimGroup) bool { return g.Name == c.Group }):
		return fmt.Errorf("there is no group %q", c.Group)
	case !slices.ContainsFunc(Items(), func(it Item) bool { return it.Name == c.Shown }):
		return fmt.Errorf("it is shown in %q, which is neither a table nor a figure", c.Shown)
	case checks[c.Check].cases == nil:
		return fmt.Errorf("there is no check %q: choose from %s", c.Check,
			strings.Join(slices.Sorted(maps.Keys(checks)), ", "))
	}
	text, err := json.Marshal(c.With)
	if err != nil {
		return err
	}
	if err := files.Strict(text, &c.rule); err != nil {
		return err
	}
	return c.problem()
}

func (c *Claim) cases(v *View) []claimCase { return checks[c.Check].cases(v, c.rule) }

// ruleOf returns the rule of a claim, for figures whose notes state its limits.
func ruleOf(id string) rule {
	all := paperClaims().Claims
	return all[slices.IndexFunc(all, func(c Claim) bool { return c.ID == id })].rule
}
