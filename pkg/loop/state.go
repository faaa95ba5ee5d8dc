package loop

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/gomlx/gomlx/core/graph"
)

// Loops take their state and what they read as Go values: structs, slices and pointers of nodes. GoMLX's loop takes a
// list of nodes. [Leaves] makes the list, and [Map] a value of the same structure from other nodes. Nodes may be nil.

// Fixed is implemented by values whose nodes receive no gradient, such as sparse matrices.
type Fixed interface{ Fixed() }

// Constant is a node without a gradient.
type Constant struct{ *Node }

func (Constant) Fixed() {}

// Leaf is a node inside a Go value.
type Leaf struct {
	// Name is the path to the node, such as "pair.Newer" or "Sums[0]".
	Name string
	*Node
	// Trainable says that the node may receive a gradient: it is floating point, neither inside a [Fixed] value nor a
	// result of StopGradient.
	Trainable bool
}

// Leaves lists the nodes of a Go value, in the order of its fields.
func Leaves[T any](value T) (leaves []Leaf) {
	Map(value, func(l Leaf) *Node {
		leaves = append(leaves, l)
		return l.Node
	})
	return leaves
}

// Map replaces every node in a copy of value by the result of visit.
func Map[T any](value T, visit func(Leaf) *Node) T {
	each(reflect.ValueOf(&value).Elem(), "", false, visit)
	return value
}

var nodeType, fixedType = reflect.TypeFor[*Node](), reflect.TypeFor[Fixed]()

// each visits the nodes of v, which must be addressable, in copies of slices and pointers, which others may share.
func each(v reflect.Value, name string, fixed bool, visit func(Leaf) *Node) {
	v = reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem() // Through this v, unexported fields can be set.
	t := v.Type()
	if !fixed {
		fixed = t.Implements(fixedType)
	}
	switch {
	case t == nodeType:
		if n := v.Interface().(*Node); n != nil {
			v.Set(reflect.ValueOf(visit(Leaf{name, n, !fixed && n.DType().IsFloat() && !n.StopGradient()})))
		}
	case fixed && !holdsNodes(t, map[reflect.Type]bool{}):
	case t.Kind() == reflect.Slice:
		v.Set(reflect.AppendSlice(reflect.Zero(t), v))
		for i := range v.Len() {
			each(v.Index(i), fmt.Sprintf("%s[%d]", name, i), fixed, visit)
		}
	case t.Kind() == reflect.Struct:
		for i := range v.NumField() {
			each(v.Field(i), strings.TrimPrefix(name+"."+t.Field(i).Name, "."), fixed, visit)
		}
	case t.Kind() == reflect.Pointer:
		if !v.IsNil() {
			own := reflect.New(t.Elem())
			own.Elem().Set(v.Elem())
			v.Set(own)
			each(own.Elem(), name, fixed, visit)
		}
	default:
		panic(fmt.Errorf("package loop: %q is a %s: make the state of a loop up of nodes, slices and structs of them",
			name, t))
	}
}

// holdsNodes tells whether values of the type t hold nodes. seen has the types that are being looked at.
func holdsNodes(t reflect.Type, seen map[reflect.Type]bool) bool {
	if t == nodeType || seen[t] {
		return t == nodeType
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return holdsNodes(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if holdsNodes(t.Field(i).Type, seen) {
				return true
			}
		}
	}
	return false
}

func split[T any](value T) (nodes []*Node, names []string) {
	for _, l := range Leaves(value) {
		nodes, names = append(nodes, l.Node), append(names, l.Name)
	}
	return nodes, names
}

// join is a copy of like with the given nodes.
func join[T any](like T, nodes []*Node) T {
	return Map(like, func(Leaf) *Node {
		n := nodes[0]
		nodes = nodes[1:]
		return n
	})
}

// check panics if a step changes the structure or the shapes of the state.
func check(before, after []*graph.Node, names, namesAfter []string) {
	for i, name := range names {
		if i >= len(after) || name != namesAfter[i] {
			panic(fmt.Errorf("package loop: the body's next state lacks %q", name))
		}
		if !before[i].Shape().Equal(after[i].Shape()) {
			panic(fmt.Errorf("package loop: the body changes %q from %s to %s",
				name, before[i].Shape(), after[i].Shape()))
		}
	}
	if len(after) > len(before) {
		panic(fmt.Errorf("package loop: the body's next state has %q, which the first state lacks",
			namesAfter[len(before)]))
	}
}
