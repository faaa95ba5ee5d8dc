package main

import (
	"os"
	"slices"
	"testing"
)

// TestPicture compares the committed picture with one of the packages as they are.
func TestPicture(t *testing.T) {
	want, err := draw("../..")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../packages.svg")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/packages.svg does not show the packages as they are: run `go run ./docs/picture` in the checkout")
	}
}

// TestArrange: every arrow points down, no two boxes of a row overlap, and imports that a longer way leads to are left
// out.
func TestArrange(t *testing.T) {
	all := map[string][]string{"a": {"b", "c", "d"}, "b": {"d"}, "c": {"d", "e"}, "d": nil, "e": nil}
	less := reduced(all)
	if !slices.Equal(less["a"], []string{"b", "c"}) || !slices.Equal(less["c"], []string{"d", "e"}) {
		t.Errorf("the arrows are %v", less)
	}
	row := map[*node]int{}
	l := arrange(less)
	for r, nodes := range l.rows {
		for i, n := range nodes {
			row[n] = r
			if i > 0 && n.x-n.width/2 < nodes[i-1].x+nodes[i-1].width/2 {
				t.Errorf("%s and %s overlap", nodes[i-1].name, n.name)
			}
		}
	}
	if len(l.arrows) != 5 {
		t.Errorf("%d arrows, not 5", len(l.arrows))
	}
	for _, way := range l.arrows {
		for i := range way[1:] {
			if row[way[i+1]] != row[way[i]]-1 {
				t.Errorf("the arrow from %s to %s does not lead down row by row", way[0].name, way[len(way)-1].name)
			}
		}
	}
}

// TestKnown refuses packages that are in no room, and rooms with packages that are not there.
func TestKnown(t *testing.T) {
	all, err := imports("../..")
	if err != nil {
		t.Fatal(err)
	}
	all["pkg/new"] = nil
	if err := known(all); err == nil {
		t.Error("a package without a room was accepted")
	}
	delete(all, "pkg/new")
	delete(all, "pkg/solve")
	if err := known(all); err == nil {
		t.Error("a room with a package that is not there was accepted")
	}
}
