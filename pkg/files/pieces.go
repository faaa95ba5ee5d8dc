package files

import (
	"fmt"
	"io"
)

// Pieces is a reader that limits the pieces in which a file is read, such as the rows of a table, for a parser that
// would keep a piece in memory whatever its length. Call Next after each piece. A longer piece is an error.
type Pieces struct {
	in         io.Reader
	most, left int
}

// NewPieces limits pieces of in to about most bytes; what a parser reads ahead counts as part of the present piece.
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
