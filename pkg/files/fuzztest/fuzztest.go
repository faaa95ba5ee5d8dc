// Package fuzztest checks what every fuzz test of a parser must check: that the parser takes a bounded amount of
// memory, and that its errors have one line. It also flips bytes of files, to test that damaged files are noticed.
package fuzztest

import (
	"runtime/metrics"
	"strings"
	"testing"
)

// most is the largest number of bytes that parsing one input may allocate in total.
const most = 1 << 30

// Parse runs a parser, and returns whether it accepted its input. The test fails if the parser allocated more than 1
// GiB in total, or if its error does not have exactly one line.
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
