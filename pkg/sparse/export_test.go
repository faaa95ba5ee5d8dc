package sparse

import "slices"

func (p *Pattern) Heads() int { return p.copies }

// Size is the number of rows, Places that of the places for entries and sums, and Entries that of the entries.
func (m *Matrix) Size() int   { return m.forward.rows }
func (m *Matrix) Places() int { return len(m.forward.column) + len(m.forward.chunk) }

func (m *Matrix) Entries() int {
	return len(slices.DeleteFunc(slices.Clone(m.forward.entry), func(e int32) bool { return e < 0 }))
}

// Collect undoes [Spread]: row e*heads + k of the result belongs to entry e in head k.
func Collect[T any](p *Pattern, values []T, width int) []T {
	var out []T
	for place, e := range p.forward.entry {
		if e >= 0 {
			at := (int(e)*p.copies + int(p.forward.column[place])%p.copies) * width
			if need := at + width; need > len(out) {
				out = append(out, make([]T, need-len(out))...)
			}
			copy(out[at:at+width], values[place*width:(place+1)*width])
		}
	}
	return out
}
