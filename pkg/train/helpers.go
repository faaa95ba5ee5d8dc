package train

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// recovered is deferred by functions that build a computation graph. GoMLX panics if a graph cannot be built; recovered
// turns this panic into an error.
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

// listed returns the sorted names of weights, with commas between them, for an error message.
func listed(weights map[string]Array) string {
	if len(weights) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(weights)), ", ")
}
