package data

import _ "embed"

//go:embed bench/cases.json
var benchCases []byte

// BenchCases are the cases of the command in the folder bench, as JSON.
func BenchCases() []byte { return benchCases }
