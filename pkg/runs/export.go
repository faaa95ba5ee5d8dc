package runs

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/revgnn/revgnn/pkg/files"
)

// Export writes the records that match the query, in the order of their IDs, to a file as a whole or not at all, and
// returns their number. The name's end chooses the format: .jsonl (a JSON document a line) or .csv, and .gz after it
// for compression. Each record ends with a checksum, named sum. Exports of the same records are equal byte for byte.
func (s *Store) Export(path string, q Query) (int, error) {
	f, err := formatOf(path)
	if err != nil {
		return 0, err
	}
	records, err := s.Find(q)
	if err != nil {
		return 0, err
	}
	return len(records), files.Write(path, func(w io.Writer) error { return f.write(w, records) })
}

// format is a format of exports. The function read passes on each record with the number of its first line.
type format struct {
	write func(io.Writer, []Record) error
	read  func(io.Reader, func(line int, r exported) error) error

	compressed bool
}

// compressed compresses a format by gzip. A file is unpacked line by line, so that reading takes little memory.
func compressed(plain format) format {
	return format{
		write: func(w io.Writer, records []Record) error {
			z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
			if err != nil {
				return err
			}
			if err := plain.write(z, records); err != nil {
				return err
			}
			return z.Close()
		},
		read: func(in io.Reader, each func(int, exported) error) error {
			z, err := gzip.NewReader(in)
			if err != nil {
				return fmt.Errorf("not compressed by gzip, as its name says it is (%w)", err)
			}
			return plain.read(z, each)
		},
		compressed: true,
	}
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
	switch strings.ToLower(filepath.Ext(path)) {
	case ".gz":
		plain, err := formatOf(path[:len(path)-len(".gz")])
		if err != nil || plain.compressed {
			return format{}, &FormatError{path}
		}
		return compressed(plain), nil
	case ".jsonl":
		return format{write: WriteLines, read: readLines}, nil
	case ".csv":
		return format{write: writeCSV, read: readCSV}, nil
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
