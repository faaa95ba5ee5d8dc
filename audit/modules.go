package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/google/licensecheck"
)

// licenceFile matches the names of licence files.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying)([-_. ].*)?$`)

// read are the sha256 of licence files that licensecheck does not know and that were read for this list: a changed
// one is a finding again.
var read = map[string]string{
	"5ae5bee3072a841376451b48d8cfcec7188e10543926d5870828d36c8a750dc5": "modernc.org/memory: where its logo is from",
	"f597097efe3d97021f89170746bd3a0fb9a8b6fb26b82043ed68a4e0283bee6c": "modernc.org/libc: MIT and BSD",
}

// known is the least share, in percent, of a licence file's words that must belong to licences with a name: the rest
// is notices and names. licensecheck's authors use 75 where they tell which modules may be shown (pkgsite).
const known = 75

// A module is one line of go.mod.
type module struct {
	Path, Version, Dir string
}

// modules checks the licence files of all modules in go.mod, for every platform.
func modules() (r report) {
	var list []module
	paths, err := required()
	if err == nil {
		list, err = listed(paths)
	}
	if err != nil {
		r.skip("%v", err)
		return r
	}
	for _, m := range list {
		if m.Dir == "" {
			r.skip("%s %s is not on this machine: `go mod download` gets it", m.Path, m.Version)
			continue
		}
		r.checked++
		for _, problem := range licences(m.Dir) {
			r.find("%s %s: %s", m.Path, m.Version, problem)
		}
	}
	return r
}

// required are the paths of the modules in go.mod.
func required() ([]string, error) {
	out, err := exec.Command("go", "mod", "edit", "-json").Output()
	if err != nil {
		return nil, err
	}
	var mod struct{ Require []module }
	if err := json.Unmarshal(out, &mod); err != nil {
		return nil, err
	}
	var paths []string
	for _, m := range mod.Require {
		paths = append(paths, m.Path)
	}
	return paths, nil
}

func listed(paths []string) (list []module, err error) {
	out, err := exec.Command("go", append([]string{"list", "-m", "-json"}, paths...)...).Output()
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var m module
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
}

// licences says what is wrong with the licence files in a module's folder.
func licences(dir string) (problems []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return []string{err.Error()}
	}
	found := false
	for _, e := range entries {
		if e.IsDir() || !licenceFile.MatchString(e.Name()) || filepath.Ext(e.Name()) == ".go" {
			continue
		}
		found = true
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			problems = append(problems, err.Error())
			continue
		}
		if _, ok := read[fmt.Sprintf("%x", sha256.Sum256(text))]; ok {
			continue
		}
		coverage := licensecheck.Scan(text)
		if coverage.Percent < known {
			problems = append(problems, e.Name()+" is not the text of a licence that is known")
		}
		for _, match := range coverage.Match {
			if !permitted(match.ID) {
				problems = append(problems, e.Name()+" has the licence "+match.ID+", which is not on the list")
			}
		}
	}
	if !found {
		problems = append(problems, "there is no licence file")
	}
	return problems
}
