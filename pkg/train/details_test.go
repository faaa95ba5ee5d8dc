package train

import (
	"strings"
	"testing"
)

// TestDetailsThatDoNotGoTogether checks that [Details.Validate] finds details that contradict each other. A damaged
// file may contain such details.
func TestDetailsThatDoNotGoTogether(t *testing.T) {
	two := []string{"a", "b"}
	for want, d := range map[string]*Details{
		"":                  nil,
		"confusion matrix":  {Classes: two, Confusion: [][]int{{1, 2}}},
		"matrix is not one": {Classes: two, Confusion: [][]int{{1, 2}, {3}}},
		"ROC curve":         {Classes: two[:1], ROC: &ROC{}},
		"1 and 0":           {Classes: two, ROC: &ROC{FalsePositive: []Number{0}}},
		`curve "solve"`:     {Classes: two, Curves: Curves{Solve: []Number{1}}},
	} {
		if err := d.Validate(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", d, err, want)
		}
	}
}
