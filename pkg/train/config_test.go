package train

import (
	"slices"
	"testing"
)

// TestChanged checks that [Config.Changed] has a setting only if its value differs from the default: not if it is the
// default, and not if it is what [Config.Resolved] fills in.
func TestChanged(t *testing.T) {
	c := Default("gcn+rep")
	if list := c.Changed(); len(list) > 0 {
		t.Errorf("%d settings of the default configuration differ from the defaults, such as %s", len(list),
			list[0].Name)
	}
	c.HeadLayers = c.Resolved().HeadLayers
	c.Reverse, c.LearningRate = c.Reverse+1, 2*c.LearningRate
	var names []string
	for _, s := range c.Changed() {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	if want := []string{"lr", "reverse"}; !slices.Equal(names, want) {
		t.Errorf("the settings %v differ from the defaults, want %v", names, want)
	}
}
