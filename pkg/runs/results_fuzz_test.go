package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/files/filestest"
)

// FuzzImport reads arbitrary text as records, in both formats (JSON lines and CSV). Each record that is accepted is
// written, and read again. This must give the same record. The texts of the record must have no control characters.
func FuzzImport(f *testing.F) {
	r := example()
	r.ID, r.Key = strings.Repeat("0", timeDigits+randomDigits), strings.Repeat("0a", 32)
	r, err := r.prepared()
	if err != nil {
		f.Fatal(err)
	}
	for i, format := range []format{{write: WriteLines, read: readLines}, {write: writeCSV, read: readCSV}} {
		var b bytes.Buffer
		if err := format.write(&b, []Record{r, r}); err != nil {
			f.Fatal(err)
		}
		f.Add(i == 1, b.Bytes())
	}
	f.Add(false, []byte(`{"id":"\u001b[2J","config":{"a":1e999},"seed":-1}`))
	f.Fuzz(func(t *testing.T, table bool, b []byte) {
		read := readLines
		if table {
			read = readCSV
		}
		filestest.Parse(t, func() error {
			return read(bytes.NewReader(b), func(_ int, from exported) error {
				r, err := from.prepared()
				if err == nil {
					checkRecord(t, r)
				}
				return err
			})
		})
	})
}

func checkRecord(t *testing.T, r Record) {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	same := errors.New("not read")
	err = readLines(bytes.NewReader(text), func(_ int, from exported) error {
		var again Record
		again, same = from.prepared()
		if fmt.Sprint(again.cells()) != fmt.Sprint(r.cells()) {
			t.Errorf("%q becomes %q", r.cells(), again.cells())
		}
		return nil
	})
	if err = errors.Join(err, same); err != nil {
		t.Errorf("%s cannot be read again: %v", text, err)
	}
	if strings.ContainsAny(r.Dataset+r.Model+r.Message+r.Machine.CPU, "\x1b\n\t") {
		t.Errorf("controls are kept: %q", r.cells())
	}
}

// TestEndlessRow: a row of CSV or a line of JSON that does not end gives an error before it fills the memory.
func TestEndlessRow(t *testing.T) {
	endless := io.MultiReader(strings.NewReader(strings.Join(columnNames(), ",")+"\n"), sevens{})
	err := readCSV(endless, func(int, exported) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "a row is longer than") {
		t.Error(err)
	}
	if err := readLines(sevens{}, nil); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Error(err)
	}
}

type sevens struct{}

func (sevens) Read(b []byte) (int, error) { return copy(b, bytes.Repeat([]byte("7"), len(b))), nil }
