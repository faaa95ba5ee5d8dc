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

// Origin is everything that the numbers of a training depend on, except the machine. It has an entry for each of these,
// by name: the checksum of the graph as the model sees it ([models.Seen]), the split, the engine, the model, each
// setting, and each version. A checkpoint or a stored result is used only for a training of the same origin.
type Origin map[string]string

// versionOf is the prefix of the names of versions in an [Origin].
const versionOf = "version of "

// NewOrigin returns the origin of a training. graph is the checksum of the graph as the model sees it ([models.Seen]).
// For versions, see [Checkpoint].
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

// Difference says in words how the origin of a checkpoint or of a stored result differs from the wanted origin, which
// is that of the present training. The words can end a sentence that begins with "the checkpoint" or "the result". Only
// the first difference is named: model, engine, split and settings come first, then the graph, then versions. If the
// origins are equal, Difference returns "".
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
