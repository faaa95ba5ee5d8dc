package data

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

//go:embed settings/*.json
var settings embed.FS

// schema is the name of a JSON schema, without its ending. Each of the folders settings and spaces has such a schema,
// which says what the other files of the folder may contain.
const schema = "schema"

// SettingsNames returns the names of the profiles that are embedded into the program. A profile is a list of runs, with
// their settings.
func SettingsNames() []string {
	found, err := fs.Glob(settings, "settings/*.json")
	if err != nil {
		panic(err) // the pattern is right
	}
	var names []string
	for _, path := range found {
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(path, "settings/"), ".json"))
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == schema })
}

// Settings returns the profile with the given name, as JSON. The schema of this JSON is [SettingsSchema].
func Settings(name string) ([]byte, error) {
	b, err := settings.ReadFile("settings/" + name + ".json")
	if err != nil {
		return nil, fmt.Errorf("no settings are known as %q: choose %s", name, strings.Join(SettingsNames(), " or "))
	}
	return b, nil
}

// SettingsSchema returns the JSON schema of profiles (see [Settings]).
func SettingsSchema() ([]byte, error) { return settings.ReadFile("settings/" + schema + ".json") }
