package files

import (
	"fmt"
	"io"
)

// Pieces bounds the pieces that a file is read in, such as the rows of a table, where the reader behind it would keep
// a piece in memory however long it is: call Next after each. A longer piece ends in an error.
type Pieces struct {
	in         io.Reader
	most, left int
}

// NewPieces bounds pieces of in by about most bytes: a reader that reads ahead takes that from the next one.
func NewPieces(in io.Reader, most int) *Pieces { return &Pieces{in, most, most} }

// Next begins the next piece.
func (p *Pieces) Next() { p.left = p.most }

// Read implements [io.Reader].
func (p *Pieces) Read(b []byte) (int, error) {
	if p.left <= 0 {
		return 0, fmt.Errorf("a row is longer than %d KiB, the limit", p.most>>10)
	}
	n, err := p.in.Read(b[:min(len(b), p.left)])
	p.left -= n
	return n, err
}
