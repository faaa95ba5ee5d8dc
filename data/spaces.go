package data

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed spaces/*.json
var spaces embed.FS

// PublishedSpace is the name of the space that a search uses if the user names none. A space has the ranges from which
// the search draws settings.
const PublishedSpace = "published"

// SpaceNames returns the names of the spaces that are embedded into the program. A space has the ranges from which a
// search draws settings.
func SpaceNames() []string {
	found, err := fs.Glob(spaces, "spaces/*.json")
	if err != nil {
		panic(err) // the pattern is right
	}
	for i, file := range found {
		found[i] = strings.TrimSuffix(path.Base(file), ".json")
	}
	return slices.DeleteFunc(found, func(name string) bool { return name == schema })
}

// Space returns the space with the given name, as JSON. A space has the ranges from which a search draws settings. The
// schema of the JSON is [SpaceSchema].
func Space(name string) ([]byte, error) {
	b, err := spaces.ReadFile("spaces/" + name + ".json")
	if err != nil {
		return nil, fmt.Errorf("no space is known as %q: choose %s", name, strings.Join(SpaceNames(), " or "))
	}
	return b, nil
}

// SpaceSchema returns the JSON schema of spaces (see [Space]).
func SpaceSchema() ([]byte, error) { return spaces.ReadFile("spaces/" + schema + ".json") }
