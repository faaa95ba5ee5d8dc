package datasets

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// maxPickleOps limits a pickle's instructions, and so its memory; PubMed's adjacency has most, 170,000.
const maxPickleOps = 1 << 20

// Values of a pickle, besides int64, bool and nil; a pickleString is str or unicode of Python 2.
type (
	pickleString string
	pickleTuple  []any
	pickleList   struct{ items []any }
	pickleDict   struct{ keys, values []any }
	pickleGlobal string // a Python name, as "module name"; it is recorded, and never imported or called
	// pickleObject is an object that Python would make by calling class with args, setting its state, and storing
	// items.
	pickleObject struct {
		class pickleGlobal
		args  pickleTuple
		state any
		items pickleDict
	}
	pickleMark struct{} // lies on the stack below the items of a collection, to show where the items begin
)

// pickleGlobals are the only Python functions and classes that a pickle may name: those of the Planetoid files, by old
// and new names of modules.
var pickleGlobals = map[pickleGlobal]bool{
	"collections defaultdict":             true,
	"__builtin__ list":                    true,
	"numpy ndarray":                       true,
	"numpy dtype":                         true,
	"numpy.core.multiarray _reconstruct":  true,
	"numpy._core.multiarray _reconstruct": true,
	"scipy.sparse.csr csr_matrix":         true,
	"scipy.sparse._csr csr_matrix":        true,
}

// unpickle reads a Python pickle of protocol 2 (PEP 307), a program for a stack machine. It runs no Python: it builds
// lists, dictionaries and numbers, describes other objects ([pickleObject]), and knows only the instructions of the
// Planetoid files.
func unpickle(b []byte) (value any, err error) {
	m := pickleMachine{rest: b, memo: map[uint32]any{}}
	for ops := 0; ; ops++ {
		op, err := m.take(1)
		if err != nil {
			return nil, err
		}
		if ops >= maxPickleOps {
			return nil, fmt.Errorf("has more than %d instructions, the limit", maxPickleOps)
		}
		if op[0] == '.' {
			return m.pop()
		}
		if err := m.step(op[0]); err != nil {
			return nil, fmt.Errorf("is damaged at byte %d (%w)", len(b)-len(m.rest)-1, err)
		}
	}
}

type pickleMachine struct {
	rest  []byte
	stack []any
	memo  map[uint32]any
}

func (m *pickleMachine) push(v any) { m.stack = append(m.stack, v) }

func (m *pickleMachine) pop() (any, error) {
	if len(m.stack) == 0 {
		return nil, fmt.Errorf("the stack is empty")
	}
	v := m.stack[len(m.stack)-1]
	if _, mark := v.(pickleMark); mark {
		return nil, fmt.Errorf("a mark where a value is needed")
	}
	m.stack = m.stack[:len(m.stack)-1]
	return v, nil
}

// popTo removes what is above the topmost [pickleMark], and the mark.
func (m *pickleMachine) popTo() ([]any, error) {
	for i := len(m.stack) - 1; i >= 0; i-- {
		if _, mark := m.stack[i].(pickleMark); mark {
			items := append([]any(nil), m.stack[i+1:]...)
			m.stack = m.stack[:i]
			return items, nil
		}
	}
	return nil, fmt.Errorf("no mark on the stack")
}

func (m *pickleMachine) popN(n int) ([]any, error) {
	items := make([]any, n)
	for i := n - 1; i >= 0; i-- {
		v, err := m.pop()
		if err != nil {
			return nil, err
		}
		items[i] = v
	}
	return items, nil
}

func (m *pickleMachine) take(n int) ([]byte, error) {
	if n < 0 || n > len(m.rest) {
		return nil, fmt.Errorf("the file ends too early")
	}
	b := m.rest[:n]
	m.rest = m.rest[n:]
	return b, nil
}

func (m *pickleMachine) line() (string, error) {
	end := bytes.IndexByte(m.rest, '\n')
	if end < 0 {
		return "", fmt.Errorf("the file ends too early")
	}
	s := string(m.rest[:end])
	m.rest = m.rest[end+1:]
	return s, nil
}

// uint reads a little-endian number of n bytes.
func (m *pickleMachine) uint(n int) (uint32, error) {
	b, err := m.take(n)
	if err != nil {
		return 0, err
	}
	var whole [4]byte
	copy(whole[:], b)
	return binary.LittleEndian.Uint32(whole[:]), nil
}

// scalar is the value of an instruction that only pushes one.
func (m *pickleMachine) scalar(op byte) (v any, ok bool, err error) {
	var n uint32
	var b []byte
	switch op {
	case 'N':
		return nil, true, nil
	case 0x88, 0x89:
		return op == 0x88, true, nil
	case 'K': // BININT1: an unsigned number of one byte
		n, err = m.uint(1)
		v = int64(n)
	case 'M': // BININT2: an unsigned number of two bytes
		n, err = m.uint(2)
		v = int64(n)
	case 'J': // BININT: a signed number of four bytes
		n, err = m.uint(4)
		v = int64(int32(n))
	case 0x8a: // LONG1: a number, after its length in bytes
		if n, err = m.uint(1); err == nil {
			v, err = m.long(int(n))
		}
	case 'U', 'T', 'X': // SHORT_BINSTRING, BINSTRING, BINUNICODE: a string, after its length in bytes
		width := 4
		if op == 'U' {
			width = 1
		}
		if n, err = m.uint(width); err == nil {
			b, err = m.take(int(n))
			v = pickleString(b)
		}
	case 'c': // GLOBAL: the name of a Python function or class
		v, err = m.global()
	case ')':
		v = pickleTuple(nil)
	case ']':
		v = &pickleList{}
	case '}':
		v = &pickleDict{}
	case '(':
		v = pickleMark{}
	default:
		return nil, false, nil
	}
	return v, true, err
}

// long reads a little-endian number of at most 8 bytes in two's complement.
func (m *pickleMachine) long(n int) (int64, error) {
	b, err := m.take(n)
	if err != nil || n == 0 {
		return 0, err
	}
	if n > 8 {
		return 0, fmt.Errorf("a number of %d bytes", n)
	}
	var whole [8]byte
	copy(whole[:], b)
	shift := 64 - 8*n
	return int64(binary.LittleEndian.Uint64(whole[:])<<shift) >> shift, nil
}

func (m *pickleMachine) global() (any, error) {
	module, err := m.line()
	if err != nil {
		return nil, err
	}
	name, err := m.line()
	if err != nil {
		return nil, err
	}
	g := pickleGlobal(module + " " + name)
	if !pickleGlobals[g] {
		return nil, fmt.Errorf("it names %q, which no dataset file needs; do not trust this file", truncate(g))
	}
	return g, nil
}
