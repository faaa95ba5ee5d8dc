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

// rule has the parameters of a check. Each check needs some of them; claims_test.go says which.
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

// checks are the kinds of rules: functions that divide a claim into cases.
var checks = map[string]func(v *View, r rule) []claimCase{
	"cell":       cellCases,
	"gain":       gainCases,
	"unchanged":  unchangedCases,
	"most":       mostCases,
	"largest":    largestCases,
	"place":      placeCases,
	"trend":      trendCases,
	"gsl-below":  gslBelowCases,
	"gsl-above":  gslAboveCases,
	"gsl-less":   gslLessCases,
	"spread":     spreadCases,
	"directions": directionCases,
	"inversion":  inversionCases,
	"converges":  convergenceCases,
	"line":       lineCases,
	"power":      powerCases,
	"statistics": statisticsCases,
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

// readClaims reads claims from JSON. Unknown fields, parameters and checks are errors.
func readClaims(text []byte) (c claims, err error) {
	if err := files.Strict(text, &c); err != nil {
		return c, err
	}
	for i := range c.Claims {
		one := &c.Claims[i]
		with, err := json.Marshal(one.With)
		if err == nil {
			err = files.Strict(with, &one.rule)
		}
		if err == nil && checks[one.Check] == nil {
			err = fmt.Errorf("there is no check %q: choose from %s", one.Check,
				strings.Join(slices.Sorted(maps.Keys(checks)), ", "))
		}
		if err != nil {
			return c, fmt.Errorf("claim %q: %w", one.ID, err)
		}
	}
	return c, nil
}

func (c *Claim) cases(v *View) []claimCase { return checks[c.Check](v, c.rule) }

// ruleOf returns the rule of a claim, for figures whose notes state its limits.
func ruleOf(id string) rule {
	all := paperClaims().Claims
	return all[slices.IndexFunc(all, func(c Claim) bool { return c.ID == id })].rule
}
