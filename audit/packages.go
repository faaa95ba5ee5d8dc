package main

import (
	"bufio"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"
)

// spdx are the SPDX names of licences as older metadata call them. (Their "BSD" may have two clauses or three: both
// are allowed.)
var spdx = map[string]string{
	"Apache 2.0":                           "Apache-2.0",
	"Apache License, Version 2.0":          "Apache-2.0",
	"Apache Software License":              "Apache-2.0",
	"BSD License":                          "BSD-3-Clause",
	"ISC License (ISCL)":                   "ISC",
	"MIT License":                          "MIT",
	"Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
	"Python Software Foundation License":   "PSF-2.0",
}

// packages checks what the packages installed in a Python environment say of their licences.
func packages(venv string) (r report) {
	files, _ := filepath.Glob(filepath.Join(venv, "lib", "python*", "site-packages", "*.dist-info", "METADATA"))
	if len(files) == 0 {
		r.skip("there are no Python packages in %s: `make setup` installs them", venv)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(filepath.Dir(file)), ".dist-info")
		licence, err := declared(file)
		if err != nil {
			r.skip("%s: %v", name, err)
			continue
		}
		r.checked++
		switch {
		case licence == "":
			r.find("%s does not say under which licence it is", name)
		case !permitted(licence):
			r.find("%s has the licence %q, which is not on the list", name, licence)
		}
	}
	return r
}

// declared is the licence in a package's metadata as an SPDX expression: the expression there, else the classifiers,
// else the free text; what has no SPDX name as it stands.
func declared(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	header, err := textproto.NewReader(bufio.NewReader(f)).ReadMIMEHeader()
	if len(header) == 0 && err != nil {
		return "", err
	}
	if expression := header.Get("License-Expression"); expression != "" {
		return expression, nil
	}
	var all []string
	for _, classifier := range header["Classifier"] {
		parts := strings.Split(classifier, " :: ")
		if last := parts[len(parts)-1]; parts[0] == "License" && last != "OSI Approved" {
			all = append(all, named(last))
		}
	}
	if len(all) > 0 {
		return strings.Join(all, " AND "), nil
	}
	return named(header.Get("License")), nil
}

func named(text string) string {
	if name, ok := spdx[text]; ok {
		return name
	}
	return text
}
