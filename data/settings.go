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

const schema = "schema"

// SettingsNames are the names of profiles.
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

func Settings(name string) ([]byte, error) {
	b, err := settings.ReadFile("settings/" + name + ".json")
	if err != nil {
		return nil, fmt.Errorf("no settings are known as %q: choose %s", name, strings.Join(SettingsNames(), " or "))
	}
	return b, nil
}

func SettingsSchema() ([]byte, error) { return settings.ReadFile("settings/" + schema + ".json") }
