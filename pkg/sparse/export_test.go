package sparse

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
