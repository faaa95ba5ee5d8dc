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

// PublishedSpace is the name of the space that a search draws from unless another is given.
const PublishedSpace = "published"

// SpaceNames lists the spaces of settings that are part of the program.
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

// Space returns a space of settings, as JSON of the form that [SpaceSchema] describes.
func Space(name string) ([]byte, error) {
	b, err := spaces.ReadFile("spaces/" + name + ".json")
	if err != nil {
		return nil, fmt.Errorf("no space is known as %q: choose %s", name, strings.Join(SpaceNames(), " or "))
	}
	return b, nil
}

// SpaceSchema returns the JSON schema of spaces.
func SpaceSchema() ([]byte, error) { return spaces.ReadFile("spaces/" + schema + ".json") }
