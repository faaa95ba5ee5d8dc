package datasets

import "fmt"

// step executes one instruction other than STOP.
func (m *pickleMachine) step(op byte) error {
	if v, ok, err := m.scalar(op); ok {
		if err == nil {
			m.push(v)
		}
		return err
	}
	switch op {
	case 0x80: // PROTO: the version of the pickle format
		version, err := m.uint(1)
		if err == nil && version != 2 {
			err = fmt.Errorf("protocol %d; only 2 is supported", version)
		}
		return err
	case 'q', 'r', 'h', 'j': // BINPUT, LONG_BINPUT, BINGET, LONG_BINGET: store a value, or push a stored one
		return m.memoise(op)
	case 't': // TUPLE: a tuple of the values above the topmost mark
		items, err := m.popTo()
		if err == nil {
			m.push(pickleTuple(items))
		}
		return err
	case 0x85, 0x86, 0x87: // TUPLE1 to TUPLE3: a tuple of one to three values
		items, err := m.popN(int(op) - 0x84)
		if err == nil {
			m.push(pickleTuple(items))
		}
		return err
	case 'a', 'e', 's', 'u': // APPEND, APPENDS, SETITEM, SETITEMS: add items to a collection
		return m.extend(op)
	case 'R', 0x81: // REDUCE, NEWOBJ: call a function or a class
		return m.record()
	case 'b': // BUILD: set the state of an object
		pair, err := m.popN(2)
		if err != nil {
			return err
		}
		object, ok := pair[0].(*pickleObject)
		if !ok {
			return fmt.Errorf("a state for something that is no object")
		}
		object.state = pair[1]
		m.push(object)
		return nil
	}
	return fmt.Errorf("unknown or forbidden instruction %#02x", op)
}

// memoise executes PUT and GET, which store the top of the stack under a number, and push what is stored.
func (m *pickleMachine) memoise(op byte) error {
	width := 4
	if op == 'q' || op == 'h' {
		width = 1
	}
	n, err := m.uint(width)
	if err != nil {
		return err
	}
	if op == 'h' || op == 'j' {
		v, ok := m.memo[n]
		if !ok {
			return fmt.Errorf("nothing is stored under %d", n)
		}
		m.push(v)
		return nil
	}
	v, err := m.pop()
	if err == nil {
		m.memo[n] = v
		m.push(v)
	}
	return err
}

// extend adds items from the top of the stack to the list or dictionary below them.
func (m *pickleMachine) extend(op byte) (err error) {
	var items []any
	switch op {
	case 'a':
		items, err = m.popN(1)
	case 's':
		items, err = m.popN(2)
	default:
		items, err = m.popTo()
	}
	if err != nil {
		return err
	}
	target, err := m.pop()
	if err != nil {
		return err
	}
	switch t := target.(type) {
	case *pickleList:
		if op != 'a' && op != 'e' {
			return fmt.Errorf("keys for a list")
		}
		t.items = append(t.items, items...)
	case *pickleDict:
		if op == 'a' || op == 'e' {
			return fmt.Errorf("list items for a dictionary")
		}
		err = t.set(items)
	case *pickleObject:
		if op == 'a' || op == 'e' {
			return fmt.Errorf("list items for an object")
		}
		err = t.items.set(items)
	default:
		return fmt.Errorf("items for something that is no collection")
	}
	m.push(target)
	return err
}

func (d *pickleDict) set(items []any) error {
	if len(items)%2 != 0 {
		return fmt.Errorf("a key without a value")
	}
	for i := 0; i < len(items); i += 2 {
		d.keys = append(d.keys, items[i])
		d.values = append(d.values, items[i+1])
	}
	return nil
}

// get is the last value of a key, or nil.
func (d *pickleDict) get(key string) any {
	for i := len(d.keys) - 1; i >= 0; i-- {
		if s, ok := d.keys[i].(pickleString); ok && string(s) == key {
			return d.values[i]
		}
	}
	return nil
}

// record describes, in place of calling, the function or class below its arguments on the stack.
func (m *pickleMachine) record() error {
	pair, err := m.popN(2)
	if err != nil {
		return err
	}
	class, isGlobal := pair[0].(pickleGlobal)
	args, isTuple := pair[1].(pickleTuple)
	if !isGlobal || !isTuple {
		return fmt.Errorf("a call of something that is no known name")
	}
	m.push(&pickleObject{class: class, args: args})
	return nil
}
