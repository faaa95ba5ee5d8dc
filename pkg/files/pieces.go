package files

import (
	"fmt"
	"io"
)

// Pieces is a reader that limits the length of pieces of a file, such as the rows of a table. It is meant for a parser
// that would keep a piece in memory, however long it is. Next must be called after each piece. A piece that is too long
// is an error.
type Pieces struct {
	in         io.Reader
	most, left int
}

// NewPieces limits the pieces of in to about most bytes. What a parser reads ahead counts as part of the present piece.
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
