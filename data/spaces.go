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

// PublishedSpace is the space of a search if the user names none.
const PublishedSpace = "published"

// SpaceNames are the names of spaces: ranges from which a search draws settings.
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

func Space(name string) ([]byte, error) {
	b, err := spaces.ReadFile("spaces/" + name + ".json")
	if err != nil {
		return nil, fmt.Errorf("no space is known as %q: choose %s", name, strings.Join(SpaceNames(), " or "))
	}
	return b, nil
}

func SpaceSchema() ([]byte, error) { return spaces.ReadFile("spaces/" + schema + ".json") }
