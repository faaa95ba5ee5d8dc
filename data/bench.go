package data

import _ "embed"

//go:embed bench/cases.json
var benchCases []byte

// BenchCases returns the cases of the benchmark as JSON: which models are timed on which graphs, with which settings.
// The command in the folder bench reads these cases. The caller must not change the result.
func BenchCases() []byte { return benchCases }
