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

// Largest file and row in bytes; a row of commas takes twenty times its bytes in memory.
const (
	maxCSVBytes = 1 << 30
	maxRowBytes = 4 << 20
)

// readCSV hands the rows of a folder's CSV file to parse.
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

// rows reads a CSV file row by row, into the same slice; a row longer than maxRowBytes is an error.
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

func (r *rows) Read() ([]string, error) {
	r.pieces.Next()
	return r.Reader.Read()
}
