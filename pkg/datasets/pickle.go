package datasets

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/revgnn/revgnn/pkg/npz"
)

// maxPickleOps limits a pickle's instructions, and so its memory; PubMed's adjacency has most, 170,000.
const maxPickleOps = 1 << 20

// Values of a pickle, besides int64, bool and nil; a pickleString is str or unicode of Python 2.
type (
	pickleString string
	pickleTuple  []any
	pickleGlobal string // a Python name, as "module name"; it is recorded, and never imported or called
	// pickleObject is an object that Python would make by calling class with args, setting its state, and storing
	// items: a list's are its values, others' are keys and values in turn.
	pickleObject struct {
		class pickleGlobal // pickledList and pickledDict for what Python makes without a call
		args  pickleTuple
		state any
		items []any
	}
	pickleMark struct{} // lies on the stack below the items of a collection, to show where the items begin
)

const pickledList, pickledDict = "list", "dict"

// pickleGlobals are the only Python functions and classes that a pickle may name: those of the Planetoid files, by old
// and new names of modules.
var pickleGlobals = []pickleGlobal{
	"collections defaultdict", "__builtin__ list", "numpy ndarray", "numpy dtype",
	"numpy.core.multiarray _reconstruct", "numpy._core.multiarray _reconstruct",
	"scipy.sparse.csr csr_matrix", "scipy.sparse._csr csr_matrix",
}

// unpickle reads a Python pickle of protocol 2 (PEP 307), a program for a stack machine. It runs no Python: it builds
// lists, dictionaries and numbers, describes other objects ([pickleObject]), and knows only the instructions of the
// Planetoid files.
func unpickle(b []byte) (value any, err error) {
	m := pickleMachine{rest: b, memo: map[uint32]any{}}
	defer func() {
		if err != nil {
			err = fmt.Errorf("is damaged at byte %d (%w)", len(b)-len(m.rest), err)
		}
	}()
	defer returned(&err)
	for range maxPickleOps {
		op := m.take(1)[0]
		if op == '.' {
			return m.pop(), nil
		}
		m.step(op)
	}
	return nil, fmt.Errorf("more than %d instructions, the limit", maxPickleOps)
}

type pickleMachine struct {
	rest  []byte
	stack []any
	memo  map[uint32]any
}

// step executes one instruction other than STOP.
func (m *pickleMachine) step(op byte) {
	switch op {
	case 0x80: // PROTO: the version of the pickle format
		if version := m.uint(1); version != 2 {
			refuse("protocol %d; only 2 is supported", version)
		}
	case 'N':
		m.push(nil)
	case 0x88, 0x89:
		m.push(op == 0x88)
	case 'K': // BININT1: an unsigned number of one byte
		m.push(int64(m.uint(1)))
	case 'M': // BININT2: an unsigned number of two bytes
		m.push(int64(m.uint(2)))
	case 'J': // BININT: a signed number of four bytes
		m.push(int64(int32(m.uint(4))))
	case 0x8a: // LONG1: a number in two's complement, after its length in bytes
		n := int(m.uint(1))
		if n > 8 {
			refuse("a number of %d bytes", n)
		}
		whole := append(make([]byte, 8-n, 8), m.take(n)...)
		m.push(int64(binary.LittleEndian.Uint64(whole)) >> (64 - 8*n))
	case 'U': // SHORT_BINSTRING: a string, after its length in bytes
		m.push(pickleString(m.take(int(m.uint(1)))))
	case 'T', 'X': // BINSTRING, BINUNICODE
		m.push(pickleString(m.take(int(m.uint(4)))))
	case 'c': // GLOBAL: the name of a Python function or class
		name := pickleGlobal(m.line() + " " + m.line())
		if !slices.Contains(pickleGlobals, name) {
			refuse("it names %q, which no dataset file needs; do not trust this file", truncate(name))
		}
		m.push(name)
	case ')':
		m.push(pickleTuple(nil))
	case ']':
		m.push(&pickleObject{class: pickledList})
	case '}':
		m.push(&pickleObject{class: pickledDict})
	case '(':
		m.push(pickleMark{})
	case 'q': // BINPUT, LONG_BINPUT: store the top of the stack under a number
		m.store(m.uint(1))
	case 'r':
		m.store(m.uint(4))
	case 'h': // BINGET, LONG_BINGET: push what is stored
		m.recall(m.uint(1))
	case 'j':
		m.recall(m.uint(4))
	case 't': // TUPLE: of the values above the topmost mark
		m.push(pickleTuple(m.popTo()))
	case 0x85, 0x86, 0x87: // TUPLE1 to TUPLE3: of one to three values
		m.push(pickleTuple(m.popN(int(op) - 0x84)))
	case 'a': // APPEND, APPENDS: add items to a list
		m.extend(m.popN(1), true)
	case 'e':
		m.extend(m.popTo(), true)
	case 's': // SETITEM, SETITEMS: add keys and values to a dictionary
		m.extend(m.popN(2), false)
	case 'u':
		m.extend(m.popTo(), false)
	case 'R', 0x81: // REDUCE, NEWOBJ: a call of a function or class with arguments is described, not made
		pair := m.popN(2)
		class, isGlobal := pair[0].(pickleGlobal)
		args, isTuple := pair[1].(pickleTuple)
		if !isGlobal || !isTuple {
			refuse("a call of something that is no known name")
		}
		m.push(&pickleObject{class: class, args: args})
	case 'b': // BUILD: set the state of an object
		pair := m.popN(2)
		object, ok := pair[0].(*pickleObject)
		if !ok || object.class == pickledList || object.class == pickledDict {
			refuse("a state for something that is no object")
		}
		object.state = pair[1]
		m.push(object)
	default:
		refuse("unknown or forbidden instruction %#02x", op)
	}
}

func (m *pickleMachine) push(v any) { m.stack = append(m.stack, v) }

func (m *pickleMachine) pop() any { return m.popN(1)[0] }

func (m *pickleMachine) popN(n int) []any {
	at := len(m.stack) - n
	if at < 0 {
		refuse("the stack is empty")
	}
	items := slices.Clone(m.stack[at:])
	if slices.Contains(items, any(pickleMark{})) {
		refuse("a mark where a value is needed")
	}
	m.stack = m.stack[:at]
	return items
}

// popTo removes what is above the topmost [pickleMark], and the mark.
func (m *pickleMachine) popTo() []any {
	for i := len(m.stack) - 1; i >= 0; i-- {
		if _, mark := m.stack[i].(pickleMark); mark {
			items := slices.Clone(m.stack[i+1:])
			m.stack = m.stack[:i]
			return items
		}
	}
	refuse("no mark on the stack")
	return nil
}

func (m *pickleMachine) store(number uint32) {
	v := m.pop()
	m.memo[number] = v
	m.push(v)
}

func (m *pickleMachine) recall(number uint32) {
	v, ok := m.memo[number]
	if !ok {
		refuse("nothing is stored under %d", number)
	}
	m.push(v)
}

// extend adds items to the collection on top of the stack: values to a list, or else keys and values.
func (m *pickleMachine) extend(items []any, values bool) {
	target := m.pop()
	object, ok := target.(*pickleObject)
	switch {
	case !ok:
		refuse("items for something that is no collection")
	case values && object.class != pickledList:
		refuse("list items for a dictionary")
	case !values && object.class == pickledList:
		refuse("keys for a list")
	case !values && len(items)%2 != 0:
		refuse("a key without a value")
	}
	object.items = append(object.items, items...)
	m.push(object)
}

func (m *pickleMachine) take(n int) []byte {
	if n < 0 || n > len(m.rest) {
		refuse("the file ends too early")
	}
	b := m.rest[:n]
	m.rest = m.rest[n:]
	return b
}

func (m *pickleMachine) line() string {
	line := m.take(bytes.IndexByte(m.rest, '\n') + 1)
	if len(line) == 0 {
		refuse("the file ends too early")
	}
	return string(line[:len(line)-1])
}

// uint reads a little-endian number of n bytes.
func (m *pickleMachine) uint(n int) uint32 {
	var whole [4]byte
	copy(whole[:], m.take(n))
	return binary.LittleEndian.Uint32(whole[:])
}

// pickledAs is a value of type T; else the file is refused.
func pickledAs[T any](v any, what string) T {
	t, ok := v.(T)
	if !ok {
		refuse("%s", what)
	}
	return t
}

// pickledObject is an object of a class, whose module has one of two names.
func pickledObject(v any, what string, classes ...pickleGlobal) *pickleObject {
	object, ok := v.(*pickleObject)
	if !ok || !slices.Contains(classes, object.class) {
		refuse("holds something other than %s", what)
	}
	return object
}

// pickledArray is the array of _reconstruct(ndarray, …) with the state (version, shape, dtype, Fortran order, bytes).
// Its type is dtype('f4', 0, 1) with the state (3, '<', …) for NumPy's "<f4".
func pickledArray(v any) *npz.Array {
	const damaged, unknown = "holds a NumPy array whose description is damaged", "holds a NumPy array of an unknown type"
	array := pickledObject(v, "a NumPy array", "numpy.core.multiarray _reconstruct", "numpy._core.multiarray _reconstruct")
	state := pickledAs[pickleTuple](array.state, damaged)
	if len(state) != 5 {
		refuse(damaged)
	}
	dtype := pickledObject(state[2], "a NumPy type", "numpy dtype")
	typeState := pickledAs[pickleTuple](dtype.state, unknown)
	if len(dtype.args) == 0 || len(typeState) < 2 {
		refuse(unknown)
	}
	code, order := pickledAs[pickleString](dtype.args[0], unknown), pickledAs[pickleString](typeState[1], unknown)
	fortran, raw := pickledAs[bool](state[3], damaged), pickledAs[pickleString](state[4], damaged)
	return must(npz.NewArray(string(order+code), fortran, pickledShape(state[1]), []byte(raw)))
}

func pickledShape(v any) (shape []int64) {
	const damaged = "holds an array or matrix whose shape is damaged"
	for _, dim := range pickledAs[pickleTuple](v, damaged) {
		shape = append(shape, pickledAs[int64](dim, damaged))
	}
	return shape
}

// pickledCSR is the matrix of scipy.sparse.csr_matrix, whose state has _shape, indptr, indices and data.
func pickledCSR(v any) *csr {
	matrix := pickledObject(v, "a sparse matrix", "scipy.sparse.csr csr_matrix", "scipy.sparse._csr csr_matrix")
	state := map[pickleString]any{}
	for pair := range slices.Chunk(pickledObject(matrix.state, "a sparse matrix", pickledDict).items, 2) {
		if key, ok := pair[0].(pickleString); ok {
			state[key] = pair[1]
		}
	}
	indptr, indices := must(pickledArray(state["indptr"]).Int64s()), must(pickledArray(state["indices"]).Int64s())
	data := must(pickledArray(state["data"]).Float32s())
	return must(newCSR(pickledShape(state["_shape"]), indptr, indices, data))
}
