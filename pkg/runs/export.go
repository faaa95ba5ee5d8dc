package runs

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"database/sql"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"modernc.org/sqlite"

	"github.com/revgnn/revgnn/pkg/files"
)

// Export writes the records that match the query, by their IDs, to a file as a whole or not at all, and returns their
// number. The name's end chooses the format: .jsonl (a JSON document a line) or .csv, and .gz after it for compression.
// Each record ends with a checksum, named sum. Exports of the same records are equal byte for byte.
func (s *Store) Export(path string, q Query) (int, error) {
	f, err := formatOf(path)
	if err != nil {
		return 0, err
	}
	records, err := s.Find(q)
	if err != nil {
		return 0, err
	}
	return len(records), files.Write(path, func(w io.Writer) error {
		if !f.compressed {
			return f.write(w, records)
		}
		z, _ := gzip.NewWriterLevel(w, gzip.BestCompression) // cannot fail for this level
		return cmp.Or(f.write(z, records), z.Close())
	})
}

// format is a format of exports. The function read passes on each record with the number of its first line.
type format struct {
	write func(io.Writer, []Record) error
	read  func(io.Reader, func(line int, r exported) error) error
	// compressed says that gzip is around it. A file is unpacked line by line, so that reading takes little memory.
	compressed bool
}

// exported is a record in an export. Sum ([sumOf]) is empty in exports of early versions and in files written by hand.
type exported struct {
	Record
	Sum string `json:"sum"`
}

// FormatError is the error for a file name without a known ending.
type FormatError struct{ Path string }

func (e *FormatError) Error() string {
	return fmt.Sprintf("%q is neither JSON lines nor CSV by its name: "+
		"give a file that ends in .jsonl, .csv, .jsonl.gz or .csv.gz", e.Path)
}

func formatOf(path string) (format, error) {
	plain, compressed := strings.CutSuffix(strings.ToLower(path), ".gz")
	switch filepath.Ext(plain) {
	case ".jsonl":
		return format{WriteLines, readLines, compressed}, nil
	case ".csv":
		return format{writeCSV, readCSV, compressed}, nil
	}
	return format{}, &FormatError{path}
}

// WriteLines writes records as the lines of a .jsonl export.
func WriteLines(w io.Writer, records []Record) error {
	for _, r := range records {
		b, err := marshal(exported{r, sumOf(r.cells())})
		if err != nil {
			return err
		}
		if _, err := w.Write(append(b, '\n')); err != nil {
			return err
		}
	}
	return nil
}

func writeCSV(w io.Writer, records []Record) error {
	c := csv.NewWriter(w)
	if err := c.Write(append(columnNames(), sumName)); err != nil {
		return err
	}
	for _, r := range records {
		cells := r.cells()
		if err := c.Write(append(cells, sumOf(cells))); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// maxLine is the largest size of a line or row in bytes. A usual record has some kilobytes.
const maxLine = 16 << 20

// Import adds the records of a file that [Store.Export] wrote, except those that are in the store already. If a line is
// not a record, or has the ID of another run in the store, nothing is added, and the error names the line.
func (s *Store) Import(path string) (added, skipped int, err error) {
	if _, err := formatOf(path); err != nil {
		return 0, 0, err
	}
	in, _, err := files.Open(path, "a file of run records")
	if err != nil {
		return 0, 0, err
	}
	defer in.Close()
	return s.ImportNew(path, in, nil)
}

// ImportNew is [Store.Import] from a reader; path tells the format, and is named in errors. It gives the new records to
// publish, unless that is nil, after they are checked and before they are kept: if publish fails, nothing is added, and
// if keeping them fails then, the caller has to undo what publish did.
func (s *Store) ImportNew(path string, in io.Reader, publish func([]Record) error) (added, skipped int, err error) {
	f, err := formatOf(path)
	if err != nil {
		return 0, 0, err
	}
	err = s.write(func(tx *sql.Tx) error {
		var fresh []Record // stays empty without publish: a large file then takes little memory
		if f.compressed {
			if in, err = gzip.NewReader(in); err != nil {
				return fmt.Errorf("nothing was imported from %s: not compressed by gzip, as its name says it is (%w)",
					path, err)
			}
		}
		err := f.read(in, func(line int, from exported) error {
			r, isNew, err := merge(tx, from)
			if err != nil {
				return fmt.Errorf("line %d: %w", line, err)
			}
			if !isNew {
				skipped++
				return nil
			}
			added++
			if publish != nil {
				fresh = append(fresh, r)
			}
			return nil
		})
		if err == nil && len(fresh) > 0 {
			err = publish(fresh)
		}
		var ofStore *sqlite.Error
		if err != nil && !errors.As(err, &ofStore) {
			return fmt.Errorf("nothing was imported from %s: %w", path, err)
		}
		return err
	})
	if err != nil {
		return 0, 0, s.explain(err)
	}
	return added, skipped, nil
}

// merge adds a record under its own ID. If the store has this ID already, the two must be equal, and isNew is false.
func merge(tx *sql.Tx, from exported) (r Record, isNew bool, err error) {
	r = from.Record
	if r.ID == "" {
		return r, false, errors.New("id is missing")
	}
	if r.Key == "" {
		return r, false, errors.New("key is missing")
	}
	if r, err = r.prepared(); err != nil {
		return r, false, err
	}
	cells := r.cells()
	if from.Sum != "" && from.Sum != sumOf(cells) {
		return r, false, fmt.Errorf("run %s is not as it was exported, by its checksum; export it again, or, where it "+
			"was changed on purpose, leave out its %s", r.ID, sumName)
	}
	if isNew, err = insert(tx, cells); err != nil || isNew {
		return r, isNew, err
	}
	return r, false, rowsOf(tx, "WHERE id = ?", []any{r.ID}, func(kept []string, _ string) error {
		for i := range cells {
			if kept[i] != cells[i] {
				return fmt.Errorf("run %s is recorded already with another %s (%.60q, here %.60q)", r.ID, columns[i].name,
					kept[i], cells[i])
			}
		}
		return nil
	})
}

func readLines(in io.Reader, each func(int, exported) error) error {
	s := bufio.NewScanner(in)
	s.Buffer(nil, maxLine)
	number := 0
	for s.Scan() {
		number++
		if len(bytes.TrimSpace(s.Bytes())) == 0 {
			continue
		}
		var r exported
		if err := files.Strict(s.Bytes(), &r); err != nil { // the value of an unknown field would be lost
			return fmt.Errorf("line %d: not a run record (%w)", number, err)
		}
		if err := each(number, r); err != nil {
			return err
		}
	}
	err := s.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("longer than %d MiB", maxLine>>20)
	}
	if err != nil {
		return fmt.Errorf("line %d: %w", number+1, err)
	}
	return nil
}

func readCSV(in io.Reader, each func(int, exported) error) error {
	pieces := files.NewPieces(in, maxLine)
	c := csv.NewReader(pieces)
	header, err := c.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	names := append(columnNames(), sumName)
	withSums := slices.Equal(header, names)
	if !withSums && !slices.Equal(header, columnNames()) {
		return fmt.Errorf("line 1: the columns are not %s", strings.Join(names, ","))
	}
	for {
		pieces.Next()
		cells, err := c.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil { // the error names the line
			return err
		}
		number, _ := c.FieldPos(0)
		var r exported
		if withSums {
			r.Sum = cells[len(columns)]
		}
		if r.Record, err = fromCells(cells); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		if err := each(number, r); err != nil {
			return err
		}
	}
}
