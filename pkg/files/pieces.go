package files

import (
	"fmt"
	"io"
)

// Pieces is a reader that limits the length of each piece of a file, such as a row of a table. It is meant for parsers
// that keep a whole piece in memory and have no limit of their own. The caller must call Next after each piece. If a
// piece is too long, Read returns an error.
type Pieces struct {
	in          io.Reader
	limit, left int
}

// NewPieces returns a reader that reads from r. The argument limit is the number of bytes that a piece may have. The
// limit is not exact: if a parser reads bytes of the next piece in advance, these bytes count as part of the present
// piece.
func NewPieces(r io.Reader, limit int) *Pieces { return &Pieces{r, limit, limit} }

// Next tells the reader that a new piece begins.
func (p *Pieces) Next() { p.left = p.limit }

// Read implements [io.Reader].
func (p *Pieces) Read(b []byte) (int, error) {
	if p.left <= 0 {
		return 0, fmt.Errorf("a row is longer than %d KiB, the limit", p.limit>>10)
	}
	n, err := p.in.Read(b[:min(len(b), p.left)])
	p.left -= n
	return n, err
}
