package train

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// recovered turns a panic of code that builds a computation graph into an error. GoMLX reports errors in such code by
// panics.
func recovered(err *error) {
	switch p := recover().(type) {
	case nil:
	case error:
		*err = fmt.Errorf("the computation graph cannot be built: %w", p)
	default:
		panic(p)
	}
}

func none(mask []bool) bool { return !slices.Contains(mask, true) }

// listed lists the names of weights.
func listed(weights map[string]Array) string {
	if len(weights) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(weights)), ", ")
}
