package loop

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/gomlx/gomlx/core/graph"
)

// The state of a loop, and what it only reads, is a Go value made up of nodes: a *Node, a struct whose fields are
// such values, with names of either case, or a slice of such values or a pointer to one. The engine's loop knows a
// list of values: state is taken apart into its nodes before the loop, in the order of its fields, and put together
// again around the parameters of the body and around the results, as PyTrees are in JAX. A nil stands for what is not
// in use: it takes no part, and is nil inside the body, too.

var nodeType = reflect.TypeFor[*Node]()

// each visits the nodes of the value that v, which is addressable, holds, with their names, and sets each of them to
// what visit returns. What slices and pointers lead to is copied first, so that other values stay as they are.
func each(v reflect.Value, name string, visit func(name string, n *Node) *Node) {
	v = reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem() // reflect sets no field whose name is lower case
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

// split is the nodes of a value, and their names.
func split[T any](value T) (nodes []*Node, names []string) {
	each(reflect.ValueOf(&value).Elem(), "", func(name string, n *Node) *Node {
		nodes, names = append(nodes, n), append(names, name)
		return n
	})
	return nodes, names
}

// join is a value with the structure of like, made up of other nodes.
func join[T any](like T, nodes []*Node) T {
	each(reflect.ValueOf(&like).Elem(), "", func(string, *Node) *Node {
		n := nodes[0]
		nodes = nodes[1:]
		return n
	})
	return like
}

// check panics where the next state is not made up as the state before it was.
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
