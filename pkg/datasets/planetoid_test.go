package datasets

import (
	"bytes"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/npz"
)

func parsePlanetoid(parts map[string][]byte) (*graphs.Graph, error) {
	return planetoidGraph("tiny", func(part string) ([]byte, error) {
		if b, ok := parts[part]; ok {
			return b, nil
		}
		return nil, fs.ErrNotExist
	})
}

func TestTinyPlanetoid(t *testing.T) {
	g, err := parsePlanetoid(tinyPlanetoid())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(g.Features, []float32{1, 0, 0, 2, 4, 5, 0, 0, 0, 3}) ||
		!slices.Equal(g.Labels, []int32{2, 0, 2, 0, 1}) ||
		!slices.Equal(g.Edges, []graphs.Edge{{0, 1}, {0, 4}, {2, 4}}) || g.NumClasses != 3 || len(g.Splits) != 10 {
		t.Errorf("got %+v", g)
	}
}

func TestBadPlanetoid(t *testing.T) {
	empty := "ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R("
	for _, c := range []struct{ what, part, content, want string }{
		{"skipped too far", "test.index", "4\n2000", "should follow"},
		{"index in allx", "test.index", "4\n1", "should follow"},
		{"index twice", "test.index", "4\n4", "stands there twice"},
		{"index is text", "test.index", "4\n" + strings.Repeat("x", 1000), "is no number"},
		{"too few indices", "test.index", "4", "do not fit together"},
		{"edge out of range", "graph", "\x80\x02" + empty + "K\x00](K\x05eu.", "joins nodes 0 and 5"},
		{"negative edge", "graph", "\x80\x02" + empty + "K\x00](" + pInt(-1) + "eu.", "not node numbers"},
		{"text for a neighbour", "graph", "\x80\x02" + empty + "K\x00](" + pString("a") + "eu.", "not node numbers"},
		{"no list", "graph", "\x80\x02" + empty + "K\x00K\x01u.", "lists of neighbours"},
		{"one list many times", "graph", "\x80\x02" + empty + "K\x00](" + strings.Repeat("K\x01", 3000) + "eq\x01" +
			strings.Repeat("K\x00h\x01", 3000) + "u.", "neighbours, the limit"},
		{"no dictionary", "graph", "\x80\x02K\x01.", "dictionary of neighbours"},
		{"a dictionary for a matrix", "allx", "\x80\x02}.", "sparse matrix"},
		{"a shape too large", "allx", string(pickled(pCSR(2, 2000000000, []int32{0, 0, 0}, []int32{}, []float32{}))),
			"do not fit together"},
		{"a column out of range", "allx", string(pickled(pCSR(2, 2, []int32{0, 1, 1}, []int32{2}, []float32{1}))),
			"column number 2"},
		{"row pointers down", "allx", string(pickled(pCSR(2, 2, []int32{0, 2, 1}, []int32{1}, []float32{1}))),
			"go down"},
		{"row pointers beyond", "allx", string(pickled(pCSR(2, 2, []int32{0, 1, 9}, []int32{1}, []float32{1}))),
			"do not fit the shape"},
		{"NaN", "allx", string(pickled(pCSR(2, 2, []int32{0, 1, 1}, []int32{1}, []float32{float32(math.NaN())}))),
			"is NaN"},
		{"array beyond its bytes", "ally", string(pickled(pArray("i4", []int32{1}, 2, 3))), "but holds 4"},
		{"array of 2^40", "ally", string(pickled(pArray("i4", []int32{1}, 1<<20, 1<<20))), "more than the limit"},
		{"array of objects", "ally", string(pickled(pArray("O8", []int32{1}, 1))), `type "<O8"`},
		{"flat labels", "ally", string(pickled(pArray("i4", []int32{1}, 1))), "one column per class"},
		{"real labels", "ally", string(pickled(pArray("f4", []int32{1, 0}, 2, 1))), "whole numbers"},
	} {
		parts := tinyPlanetoid()
		parts[c.part] = []byte(c.content)
		_, err := parsePlanetoid(parts)
		mustFail(t, c.what, err, c.want)
	}
	for part := range tinyPlanetoid() {
		parts := tinyPlanetoid()
		delete(parts, part)
		_, err := parsePlanetoid(parts)
		mustFail(t, "without "+part, err, "not exist")
	}
}

func TestWidePlanetoidIsRefused(t *testing.T) {
	parts := tinyPlanetoid()
	parts["allx"] = pickled(pCSR(2, 2000000000, []int32{0, 0, 0}, []int32{}, []float32{}))
	parts["tx"] = parts["allx"]
	_, err := parsePlanetoid(parts)
	mustFail(t, "wide", err, "more than the limit")
}

// TestPicklesExecuteNothing reads pickles that would make Python run programs, and pickles with wrong instructions. All
// of these pickles must be refused.
func TestPicklesExecuteNothing(t *testing.T) {
	for _, c := range []struct{ what, pickle, want string }{
		{"a shell", "\x80\x02cos\nsystem\n" + pString("true") + "\x85R.", `names "os system"`},
		{"eval", "\x80\x02c__builtin__\neval\n" + pString("1") + "\x85R.", `names "__builtin__ eval"`},
		{"an allowed module's other name", "\x80\x02cnumpy\nload\n.", `names "numpy load"`},
		{"a name with a space", "\x80\x02cnumpy ndarray\n\n.", "names"},
		{"INST", "\x80\x02(ios\nsystem\n.", "forbidden instruction"},
		{"persistent id", "\x80\x02Pabc\n.", "forbidden instruction"},
		{"extension code", "\x80\x02\x82\x01.", "forbidden instruction"},
		{"protocol 4", "\x80\x04.", "protocol 4"},
		{"a call of a number", "\x80\x02K\x01)R.", "no known name"},
		{"a state for a number", "\x80\x02K\x01}b.", "no object"},
		{"empty stack", "\x80\x02.", "stack is empty"},
		{"a mark left", "\x80\x02(.", "mark"},
		{"no mark", "\x80\x02t.", "no mark"},
		{"a key without a value", "\x80\x02}(K\x01u.", "without a value"},
		{"keys for a list", "\x80\x02](K\x01K\x01u.", "keys for a list"},
		{"items for a dictionary", "\x80\x02}K\x01a.", "for a dictionary"},
		{"items for a number", "\x80\x02K\x01K\x01a.", "no collection"},
		{"nothing remembered", "\x80\x02h\x01.", "nothing is stored"},
		{"endless string", "\x80\x02T\xff\xff\xff\x7fabc.", "ends too early"},
		{"negative string", "\x80\x02T\xff\xff\xff\xffabc.", "ends too early"},
		{"a number of 200 bytes", "\x80\x02\x8a\xc8" + strings.Repeat("x", 200) + ".", "200 bytes"},
		{"no end", "\x80\x02K\x01", "ends too early"},
		{"too many instructions", "\x80\x02" + strings.Repeat("N", maxPickleOps+1), "more than"},
	} {
		_, err := unpickle([]byte(c.pickle))
		mustFail(t, c.what, err, c.want)
	}
}

func TestUnpickleNumbers(t *testing.T) {
	for pickle, want := range map[string]any{
		"K\xff": int64(255), "M\x01\x02": int64(513), "J\xfe\xff\xff\xff": int64(-2), "\x8a\x02\x00\xff": int64(-256),
		"\x8a\x00": int64(0), "\x88": true, "\x89": false, "N": nil, "U\x02ab": pickleString("ab"),
		"X\x01\x00\x00\x00a": pickleString("a"),
	} {
		if v, err := unpickle(pickled(pickle)); err != nil || v != want {
			t.Errorf("%q gives %v, %v", pickle, v, err)
		}
	}
}

func TestTinyBenchmark(t *testing.T) {
	b := tinyBenchmark()
	z, err := npz.New(bytes.NewReader(b), int64(len(b)), "tiny.npz")
	if err != nil {
		t.Fatal(err)
	}
	g, err := benchmarkGraph(z, "tiny")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprint([]graphs.Edge{{0, 1}}, []float32{0, 1, 0, 0, 1, 0}, []int32{0, 1, 1})
	if got := fmt.Sprint(g.Edges, g.Features, g.Labels); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
