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

// Export writes the records that match the query q to the file at path, and returns their number. The records are in
// the order of their IDs. The file is written as a whole or not at all. The end of the file's name chooses the format:
// .jsonl means one JSON document per line, and .csv means a table, in which the columns versions, config and outcome
// contain JSON. If the name ends in .jsonl.gz or .csv.gz, the file is also compressed. In each format, the last value
// of a record has the name sum, and is the checksum of the record. Two exports of the same records are equal byte for
// byte.
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

// format is a format of exports. The function write writes records. The function read reads records, and calls its
// second argument with each of them, and with the number of the line where the record begins. The field compressed
// tells whether files of this format are compressed.
type format struct {
	write func(io.Writer, []Record) error
	read  func(io.Reader, func(line int, r exported) error) error

	compressed bool
}

// compressed returns a format that writes the same text as the given format, and compresses the text by gzip. A file is
// unpacked while it is read, one line or row at a time. Reading therefore takes little memory, however large the
// unpacked text is.
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

// exported is a record in an export. Sum is the checksum of the record's cells ([sumOf]). It is empty in exports by
// earlier versions of revgnn and in files written by hand.
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

// WriteLines writes records as lines of JSON, in the form in which [Store.Export] writes them to a file .jsonl.
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
