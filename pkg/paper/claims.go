package paper

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/files"
)

// Claim is an entry of data/paper/claims.json: a statement of the paper, and the check that decides whether it holds.
// The check may split the statement into several cases, for example one for each cell of a table.
type Claim struct {
	ID    string `json:"id"`
	Group string `json:"group"`
	// Where is the place of the statement in the paper, such as "figure 2". Shown is the name of an item, such as
	// "fig2". The page of this item shows the runs from which the verdict on the claim follows.
	Where string `json:"where"`
	Shown string `json:"shown"`
	// Says is the statement as a sentence, such as "{model} reaches {theirs} on {dataset}." For each case, {model},
	// {dataset}, {aspect} and {theirs} are replaced by the fields of claimCase with these names.
	Says string `json:"says"`
	// Check is the name of the check, such as "cell". With has the check's parameters, such as the limits for verdicts.
	Check string          `json:"check"`
	With  json.RawMessage `json:"with"`

	check check
}

// ClaimGroup is a group of claims under one heading. Title is the heading. About explains what the verdicts mean in
// this group.
type ClaimGroup struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	About string `json:"about"`
}

// claims is the content of data/paper/claims.json.
type claims struct {
	Groups []ClaimGroup `json:"groups"`
	Claims []Claim      `json:"claims"`
}

// check is the rule that decides on a claim. Its method cases splits the claim into cases, and each case gets a
// verdict. A type that implements check has the parameters of the check as fields, which are read from [Claim].With.
type check interface {
	// problem returns an error if parameters are missing or impossible.
	problem() error
	cases(v *View) []claimCase
}

// checks has an entry for each check. The key is the name of the check, as in [Claim].Check. The value is the function
// that reads the parameters of the check.
var checks = map[string]func(with []byte) (check, error){
	"cell": reading[cellCheck], "gain": reading[gainCheck], "unchanged": reading[unchanged],
	"most": reading[mostAhead], "largest": reading[largestGain], "place": reading[placeCheck],
	"trend":     reading[trend],
	"gsl-below": reading[gslBelow], "gsl-above": reading[gslAbove], "gsl-less": reading[gslLess],
	"spread": reading[spreadOver], "directions": reading[directions],
	"inversion": reading[inversionCheck], "converges": reading[converges],
	"line": reading[lineCheck], "power": reading[powerCheck],
	"statistics": reading[statisticsCheck],
}

// reading reads the parameters of a check of the type T from JSON. Unknown, missing and impossible parameters are
// errors.
func reading[T check](with []byte) (check, error) {
	var c T
	if err := files.Strict(with, &c); err != nil {
		return nil, err
	}
	return c, c.problem()
}

// paperClaims returns the claims in data/paper/claims.json. This file is embedded in the program.
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

// readClaims reads claims from JSON. Unknown fields are errors, and so are unknown names of groups, items and checks.
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

// read returns an error if a field of the claim is missing or wrong. Otherwise it sets c.check.
func (c *Claim) read(groups []ClaimGroup) (err error) {
	switch {
	case c.ID == "" || strings.ContainsAny(c.ID, "/ "):
		return fmt.Errorf("it needs an id without blanks and slashes")
	case c.Where == "" || c.Says == "":
		return fmt.Errorf("it does not say what the paper says, and where")
	case !slices.ContainsFunc(groups, func(g ClaimGroup) bool { return g.Name == c.Group }):
		return fmt.Errorf("there is no group %q", c.Group)
	case !slices.ContainsFunc(Items(), func(it Item) bool { return it.Name == c.Shown }):
		return fmt.Errorf("it is shown in %q, which is neither a table nor a figure", c.Shown)
	case checks[c.Check] == nil:
		return fmt.Errorf("there is no check %q: choose from %s", c.Check,
			strings.Join(slices.Sorted(maps.Keys(checks)), ", "))
	}
	c.check, err = checks[c.Check](c.With)
	return err
}

// claimed returns the check of the claim with the given ID. The functions of some figures use it, since their notes
// state a parameter of the check, for example the limit for GSL.
func claimed[T check](id string) T {
	all := paperClaims().Claims
	i := slices.IndexFunc(all, func(c Claim) bool { return c.ID == id })
	return all[i].check.(T)
}

// inOrder returns an error unless the limit strict is above 0 and the limit loose is at least as large as strict.
func inOrder(strict, loose float64) error {
	if !(strict > 0 && loose >= strict) {
		return fmt.Errorf("limits of %g and %g: give two above 0, the stricter first", strict, loose)
	}
	return nil
}

// between returns an error unless x is above 0 and at most 1. The number x is a parameter of a check, namely a share or
// a probability. The argument called name is the name of this parameter, for the text of the error.
func between(name string, x float64) error {
	if !(x > 0 && x <= 1) {
		return fmt.Errorf("%s is %g: give a number above 0, 1 at most", name, x)
	}
	return nil
}

// tableOf returns an error unless the name is that of a table of test results: table2, table3 or table6.
func tableOf(name string) error {
	if !slices.Contains([]string{"table2", "table3", "table6"}, name) {
		return fmt.Errorf("%q is no table of test results: choose table2, table3 or table6", name)
	}
	return nil
}
