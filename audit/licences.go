package main

import (
	"slices"
	"strings"
)

// allowed are the licences that may be among what revgnn is built from, by their SPDX names: permissive ones, and two
// (MPL, OFL) that ask for the source of their own files only.
var allowed = []string{
	"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MIT-0", "MPL-2.0", "OFL-1.1",
	"PSF-2.0", "Python-2.0", "Unlicense", "Zlib", "blessing",
}

// permitted says whether an SPDX expression can be met by allowed licences: of an OR one side, of an AND both.
// Expressions with brackets or exceptions must be made of allowed licences throughout.
func permitted(expression string) bool {
	if strings.ContainsAny(expression, "()") || strings.Contains(expression, " WITH ") {
		for _, word := range strings.Fields(strings.NewReplacer("(", " ", ")", " ").Replace(expression)) {
			if word != "AND" && word != "OR" && !slices.Contains(allowed, word) {
				return false
			}
		}
		return true
	}
	for _, side := range strings.Split(expression, " OR ") {
		all := true
		for _, licence := range strings.Split(side, " AND ") {
			all = all && slices.Contains(allowed, strings.TrimSpace(licence))
		}
		if all {
			return true
		}
	}
	return false
}
