// Package fuzztest says what every fuzz test of a parser asks beside its own: memory within bounds, and errors of one
// line.
package fuzztest

import (
	"runtime/metrics"
	"strings"
	"testing"
)

// most is what parsing one input may allocate in all.
const most = 1 << 30

// Parse runs a parser and returns whether it took its input. It fails the test where the parser allocated more than
// 1 GiB in all, or where its error is none of one line.
func Parse(t *testing.T, parse func() error) bool {
	t.Helper()
	before := allocated()
	err := parse()
	if used := allocated() - before; used > most {
		t.Errorf("%d bytes allocated", used)
	}
	if err != nil && (strings.TrimSpace(err.Error()) == "" || strings.ContainsAny(err.Error(), "\n\r")) {
		t.Errorf("the error is none of one line: %q", err)
	}
	return err == nil
}

func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
