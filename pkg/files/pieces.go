package files

import (
	"fmt"
	"io"
)

// Pieces is a reader that limits the length of each piece of a file, such as a row of a table. It is meant for parsers
// that keep a whole piece in memory and have no limit of their own. The caller must call Next after each piece. If a
// piece is too long, Read returns an error.
type Pieces struct {
	in         io.Reader
	most, left int
}

// NewPieces returns a reader that reads from in, and limits each piece to about most bytes. The limit is not exact: if
// a parser reads bytes of the next piece in advance, these bytes count as part of the present piece.
func NewPieces(in io.Reader, most int) *Pieces { return &Pieces{in, most, most} }

// Next tells the reader that a new piece begins.
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
