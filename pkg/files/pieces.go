package files

import (
	"fmt"
	"io"
)

// Pieces is a reader that limits the length of the pieces of a file, such as the rows of a table. It is meant for
// parsers that keep a whole piece in memory and have no limit of their own. The caller must call Next after each piece.
// If a piece is too long, Read returns an error.
type Pieces struct {
	in         io.Reader
	most, left int
}

// NewPieces returns a reader that reads from its first argument, and limits each piece to the number of bytes in its
// second argument. The limit is not exact, since what a parser reads ahead counts as part of the present piece.
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
