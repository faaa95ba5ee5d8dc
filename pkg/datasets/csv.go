package datasets

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/machine"
)

// maxCSVBytes is the largest size of a CSV file in bytes, and maxRowBytes is the largest size of one row of the file.
// Rows need a limit of their own, since the CSV reader holds a whole row in memory. There, a row that consists of
// commas needs some twenty times as many bytes as in the file.
const (
	maxCSVBytes = 1 << 30
	maxRowBytes = 4 << 20
)

// readCSV opens the CSV file with the given name in a dataset folder, and calls parse with the rows of the file. It
// returns the result of parse. The error message names the file.
func readCSV[T any](dir, name string, parse func(*rows) (T, error)) (out T, err error) {
	path := filepath.Join(dir, name)
	f, size, err := files.Open(path, "a CSV file")
	if errors.Is(err, fs.ErrNotExist) {
		return out, fmt.Errorf("the dataset folder %s has no %s; it needs edges.csv and nodes.csv", dir, name)
	}
	if err != nil {
		return out, err
	}
	defer f.Close()
	if size > maxCSVBytes {
		return out, fmt.Errorf("%s has %d bytes, more than the limit of %d; save it as .npz instead",
			path, size, maxCSVBytes)
	}
	if err = machine.Room(2 * size); err == nil { // The two bytes "1," of the file become a number of four bytes.
		out, err = parse(newRows(io.LimitReader(f, maxCSVBytes)))
	}
	if err != nil {
		return out, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}

// rows reads a CSV file row by row. The slice that Read returns is overwritten by the next call of Read. A row that is
// longer than maxRowBytes is an error.
type rows struct {
	*csv.Reader
	pieces *files.Pieces
}

func newRows(in io.Reader) *rows {
	p := files.NewPieces(in, maxRowBytes)
	r := &rows{csv.NewReader(p), p}
	r.ReuseRecord = true
	return r
}

// Read returns the next row.
func (r *rows) Read() ([]string, error) {
	r.pieces.Next()
	return r.Reader.Read()
}
