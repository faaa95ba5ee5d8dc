package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPermitted(t *testing.T) {
	for expression, want := range map[string]bool{
		"MIT":                                  true,
		"GPL-3.0-only":                         false,
		"":                                     false,
		"Apache-2.0 AND BSD-2-Clause":          true,
		"Apache-2.0 AND GPL-2.0-only":          false,
		"GPL-2.0-only OR MIT":                  true,
		"GPL-2.0-only OR LGPL-2.1":             false,
		"MIT OR Apache-2.0 AND ISC":            true,
		"(MIT OR GPL-2.0-only) AND ISC":        false,
		"(MIT OR ISC) AND Zlib":                true,
		"Apache-2.0 WITH Some-exception":       false,
		"MIT License that nobody has heard of": false,
	} {
		if got := permitted(expression); got != want {
			t.Errorf("permitted(%q) = %t", expression, got)
		}
	}
}

func TestLicencesOfAModule(t *testing.T) {
	own, err := os.ReadFile("../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ file, text, want string }{
		"Apache":  {"LICENSE", string(own), ""},
		"none":    {"README", string(own), "no licence file"},
		"code":    {"license.go", "package a", "no licence file"},
		"unknown": {"COPYING", "Do as you are told, and nothing else.", "not the text of a licence"},
		"not for sale": {"LICENSE.txt", "https://creativecommons.org/licenses/by-nc/4.0/",
			"which is not on the list"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(licences(dir), "; ")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestLicencesOfPackages(t *testing.T) {
	venv := t.TempDir()
	if r := packages(venv); len(r.unchecked) != 1 || !strings.Contains(r.unchecked[0], "make setup") {
		t.Errorf("an empty environment: %+v", r)
	}
	const osi = "Classifier: License :: OSI Approved"
	for name, header := range map[string]string{
		"expression-1": "License-Expression: MIT AND BSD-3-Clause\nLicense: anything\n",
		"classifier-1": osi + "\n" + osi + " :: BSD License\nClassifier: Topic :: Text\n",
		"text-1":       "License: Apache 2.0\n",
		"forbidden-1":  osi + " :: GNU Affero General Public License v3\n",
		"both-1":       osi + " :: MIT License\n" + osi + " :: GNU General Public License v3 (GPLv3)\n",
		"silent-1":     "Summary: MIT\n",
	} {
		dir := filepath.Join(venv, "lib", "python3.11", "site-packages", name+".dist-info")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		text := "Metadata-Version: 2.4\nName: x\n" + header + "\nThe description.\nLicense: MIT\n"
		if err := os.WriteFile(filepath.Join(dir, "METADATA"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := packages(venv)
	if r.checked != 6 || len(r.findings) != 3 || len(r.unchecked) != 0 {
		t.Errorf("%+v", r)
	}
	for i, name := range []string{"both-1 ", "forbidden-1 ", "silent-1 "} {
		if i < len(r.findings) && !strings.HasPrefix(r.findings[i], name) {
			t.Errorf("finding %d is %q, want one of %q", i, r.findings[i], name)
		}
	}
}
