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

// Origin has everything on which the results of a training depend, except the machine. It maps names to values. There
// are entries for the checksum of the graph as the model sees it ([models.Seen]), the split, the engine, the model,
// each setting, and the version of each software on which results depend. A checkpoint or a stored result is used only
// for a training of the same origin.
type Origin map[string]string

// versionOf is a prefix of names in an [Origin]. The name of an entry with the version of a software is this prefix and
// the name of the software.
const versionOf = "version of "

// NewOrigin returns the origin of a training. graph is the checksum of the graph as the model sees it ([models.Seen]).
// versions maps the names of software to versions, as the field Versions of [Checkpoint] does.
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

// Difference says in words how two origins differ: kept, the origin of a checkpoint or of a stored result, and wanted,
// the origin of the present training. The words can end a sentence that begins with "the checkpoint" or "the result".
// If there are several differences, Difference names only one. It looks for a difference first in the model, then in
// the engine, the split and the settings, then in the graph, and last in the versions. If the origins are equal,
// Difference returns "".
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
