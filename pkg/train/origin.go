package train

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/revgnn/revgnn/pkg/engine"
)

// Origin has, by name, all on which the results of a training depend, except the machine: the checksum of the graph as the
// model reads it, the split, the engine, the model, settings, and versions of software. A checkpoint or a stored result is
// used only for a training of the same origin.
type Origin map[string]string

// versionOf begins the names of versions.
const versionOf = "version of "

// NewOrigin returns the origin of a training on a graph with this checksum ([models.Config.InputGraph]).
func NewOrigin(e *engine.Engine, graph string, split int, c Config, versions map[string]string) (Origin, error) {
	o := Origin{"graph": graph, "split": strconv.Itoa(split), "engine": e.Name}
	for key, value := range c.Resolved().Values() {
		b, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("the setting %s cannot be written as JSON: %w", key, err)
		}
		o[key] = string(b)
	}
	o["model"] = c.Model
	for name, version := range versions {
		o[versionOf+name] = version
	}
	if e.Version != "" {
		o[versionOf+"the plugin"] = e.Version
	}
	return o, nil
}

// Difference names the most important difference of two origins, in words that follow "the checkpoint" or "the result":
// that of the model, then of the engine, the split and the settings, the graph, and versions. It is "" for equal ones.
func (kept Origin) Difference(wanted Origin) string {
	all := maps.Clone(kept)
	maps.Copy(all, wanted)
	names := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	})
	for _, name := range names {
		if kept[name] != wanted[name] {
			return describe(name, kept[name], wanted[name])
		}
	}
	return ""
}

func rank(name string) int {
	switch {
	case name == "model":
		return 0
	case name == "graph":
		return 2
	case strings.HasPrefix(name, versionOf):
		return 3
	}
	return 1
}

func describe(name, kept, wanted string) string {
	if what, is := strings.CutPrefix(name, versionOf); is {
		return fmt.Sprintf("was made with %s %s, not %s", what, cmp.Or(kept, "unknown"), cmp.Or(wanted, "unknown"))
	}
	switch name {
	case "graph":
		return fmt.Sprintf("is of another graph (its checksum is %.12s, not %.12s)", kept, wanted)
	case "model", "split":
		return fmt.Sprintf("is of %s %s, not %s", name, kept, wanted)
	}
	return fmt.Sprintf("has %s %s, not %s", name, cmp.Or(kept, "unknown"), cmp.Or(wanted, "unknown"))
}
