package loop

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/gomlx/gomlx/core/graph"
)

// The arguments state and reads of a loop are Go values that are built from nodes by structs, slices and pointers. (The
// fields of a struct may be unexported.) GoMLX's loop takes a list of nodes instead. So before the loop, the Go value
// is turned into the list of its nodes, in the order of the fields. In the body, and after the loop, a Go value of the
// same structure is made from a list of nodes. A node or a pointer that is not used may be nil. It is then nil inside
// the body, too.

var nodeType = reflect.TypeFor[*Node]()

// each replaces every node in the Go value v by the result of the function visit. It calls visit with the node and the
// node's name. This name is the path to the node, such as "pair.newer" or "sums[0]". The argument name is the path to v
// itself, with which the names begin. v must be addressable. Slices in v, and values to which pointers in v point, are
// copied before they are changed, since other Go values may share them.
func each(v reflect.Value, name string, visit func(name string, n *Node) *Node) {
	v = reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem() // Through this v, unexported fields can be set.
	switch t := v.Type(); {
	case t == nodeType:
		if n := v.Interface().(*Node); n != nil {
			v.Set(reflect.ValueOf(visit(name, n)))
		}
	case t.Kind() == reflect.Slice:
		v.Set(reflect.AppendSlice(reflect.Zero(t), v))
		for i := range v.Len() {
			each(v.Index(i), fmt.Sprintf("%s[%d]", name, i), visit)
		}
	case t.Kind() == reflect.Struct:
		for i := range v.NumField() {
			each(v.Field(i), strings.TrimPrefix(name+"."+t.Field(i).Name, "."), visit)
		}
	case t.Kind() == reflect.Pointer:
		if !v.IsNil() {
			own := reflect.New(t.Elem())
			own.Elem().Set(v.Elem())
			v.Set(own)
			each(own.Elem(), name, visit)
		}
	default:
		panic(fmt.Errorf("package loop: %q is a %s: make the state of a loop up of nodes, slices and structs of them",
			name, t))
	}
}

// split lists the nodes of a Go value, and the name that [each] gives to each node.
func split[T any](value T) (nodes []*Node, names []string) {
	each(reflect.ValueOf(&value).Elem(), "", func(name string, n *Node) *Node {
		nodes, names = append(nodes, n), append(names, name)
		return n
	})
	return nodes, names
}

// join returns a copy of like with other nodes: the first node of like is replaced by nodes[0], the second by nodes[1],
// and so on.
func join[T any](like T, nodes []*Node) T {
	each(reflect.ValueOf(&like).Elem(), "", func(string, *Node) *Node {
		n := nodes[0]
		nodes = nodes[1:]
		return n
	})
	return like
}

// check panics if the state after a step of the loop has another structure or other shapes than the state before the
// step. before lists the nodes of the state before the step, and names lists the names of these nodes. after lists the
// nodes of the state after the step, and namesAfter lists their names.
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
