package data

import _ "embed"

//go:embed bench/cases.json
var benchCases []byte

// BenchCases returns the cases of the benchmark as JSON; command bench reads and explains them. The caller must not
// change it.
func BenchCases() []byte { return benchCases }
