package loop

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/gomlx/gomlx/core/graph"
)

// The state of a loop, and what it only reads, is a Go value made of nodes: a *Node; a struct whose fields, exported
// or not, are such values; or a slice of such values or a pointer to one. The engine's loop takes a list of nodes.
// State is therefore flattened into its nodes, in the order of its fields, before the loop, and rebuilt around the
// parameters of the body and around the results, like pytrees in JAX. A nil stands for something that is not used; it
// is nil inside the body, too.

var nodeType = reflect.TypeFor[*Node]()

// each visits the nodes in the addressable value v, with their names, and replaces each by the result of visit. Slices
// and pointers are copied first, so that values that share them do not change.
func each(v reflect.Value, name string, visit func(name string, n *Node) *Node) {
	v = reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem() // reflect cannot set unexported fields otherwise
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

// split lists the nodes of a value, and their names.
func split[T any](value T) (nodes []*Node, names []string) {
	each(reflect.ValueOf(&value).Elem(), "", func(name string, n *Node) *Node {
		nodes, names = append(nodes, n), append(names, name)
		return n
	})
	return nodes, names
}

// join is a value with the structure of like, made of other nodes.
func join[T any](like T, nodes []*Node) T {
	each(reflect.ValueOf(&like).Elem(), "", func(string, *Node) *Node {
		n := nodes[0]
		nodes = nodes[1:]
		return n
	})
	return like
}

// check panics where the next state has another structure or other shapes than the state before.
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
