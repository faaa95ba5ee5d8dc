// Package filestest has what tests of files share: .npz files, some of them invalid on purpose; parsers that take
// bounded memory and give errors of one line; damage that is noticed; and small disks and memory. Linux limits the
// latter two; that needs rights such as those of root, and tests without them are skipped.
package filestest

import (
	"runtime/metrics"
	"strings"
	"testing"
)

const most = 1 << 30 // bytes

// Parse runs a parser, and returns whether it accepted its input. The test fails if the parser allocated more than 1
// GiB in total, or if its error has not exactly one line.
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
