package datasets

import (
	"archive/zip"
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/revgnn/revgnn/pkg/files/filestest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/npz"
)

func parseTiny(b []byte) (*graphs.Graph, error) {
	z, err := npz.New(bytes.NewReader(b), int64(len(b)), "own.npz")
	if err != nil {
		return nil, err
	}
	return platonovGraph(z, "own")
}

func TestOwnArchive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "own.npz")
	if err := os.WriteFile(path, tiny(), 0o644); err != nil {
		t.Fatal(err)
	}
	g, err := Load(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(g.Edges, []graphs.Edge{{0, 1}, {1, 2}}) ||
		!slices.Equal(g.Features, []float32{1, 2, 3, 4, 5, 6}) ||
		!slices.Equal(g.Labels, []int32{0, 1, 0}) || g.NumClasses != 2 || len(g.Splits) != 1 || !g.Splits[0].Test[2] {
		t.Errorf("got %+v", g)
	}
	if Task(path, g) != "roc_auc" {
		t.Errorf("the task of two classes is %q", Task(path, g))
	}
}

func TestOwnArchiveWithoutMasksGetsTenSplits(t *testing.T) {
	g, err := parseTiny(tiny(entry("train_masks", nil), entry("val_masks", nil), entry("test_masks", nil)))
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Splits) != 10 {
		t.Errorf("%d splits", len(g.Splits))
	}
}

// TestGraphOfPyTorchGeometric reads the graph of tiny under the names and in the layouts of PyTorch Geometric, with
// masks [n] and [n, splits].
func TestGraphOfPyTorchGeometric(t *testing.T) {
	want, err := parseTiny(tiny())
	if err != nil {
		t.Fatal(err)
	}
	for _, splits := range []int{1, 2} {
		mask := func(name string, node int) filestest.Entry {
			shape, values := "(3,)", make([]bool, 3*splits)
			if splits > 1 {
				shape = "(3, 2)"
			}
			for s := range splits {
				values[(node+s)%3*splits+s] = true
			}
			return entry(name, npy("|b1", false, shape, values))
		}
		g, err := parseTiny(archive(entry("x", npy("<f4", false, "(3, 2)", []float32{1, 2, 3, 4, 5, 6})),
			entry("y", npy("<i8", false, "(3,)", []int64{0, 1, 0})),
			entry("edge_index", npy("<i8", false, "(2, 2)", []int64{0, 2, 1, 1})),
			entry("edge_weight", npy("<f4", false, "(2,)", []float32{1, 2})),
			entry("edge_attr", npy("<f4", false, "(2,)", []float32{1, 2})),
			mask("train_mask", 0), mask("val_mask", 1), mask("test_mask", 2)))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(g.Edges, want.Edges) || !slices.Equal(g.Features, want.Features) ||
			!slices.Equal(g.Labels, want.Labels) || len(g.Splits) != splits || !g.Splits[0].Train[0] ||
			!g.Splits[0].Val[1] || !g.Splits[0].Test[2] || splits > 1 && !g.Splits[1].Train[1] {
			t.Errorf("%d splits: got %+v", splits, g)
		}
		if !slices.Equal(g.EdgeWeights, []float32{1, 2}) ||
			!slices.Equal(g.Notes, []string{`own.npz: the array "edge_attr" is not used`}) {
			t.Errorf("weights %v, notes %q", g.EdgeWeights, g.Notes)
		}
	}
}

// TestGraphOfDGLAndOGB reads the graph of tiny under the names of both.
func TestGraphOfDGLAndOGB(t *testing.T) {
	want, err := parseTiny(tiny())
	if err != nil {
		t.Fatal(err)
	}
	one := func(name string, values ...int64) filestest.Entry {
		return entry(name, npy("<i8", false, fmt.Sprintf("(%d,)", len(values)), values))
	}
	x := npy("<f4", false, "(3, 2)", []float32{1, 2, 3, 4, 5, 6})
	for name, b := range map[string][]byte{
		"DGL": archive(entry("feat", x), one("label", 0, 1, 0), one("src", 0, 2), one("dst", 1, 1),
			one("train_mask", 1, 0, 0), one("val_mask", 0, 1, 0), one("test_mask", 0, 0, 1)),
		"OGB": archive(entry("node_feat", x), entry("labels", npy("<i8", false, "(3, 1)", []int64{0, 1, 0})),
			entry("edge_index", npy("<i8", false, "(2, 2)", []int64{0, 2, 1, 1})), one("train_idx", 0), one("valid_idx", 1),
			one("test_idx", 2)),
	} {
		g, err := parseTiny(b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if g.Checksum() != want.Checksum() || len(g.Notes) > 0 {
			t.Errorf("%s: got %+v", name, g)
		}
	}
}

func TestNamesOfArraysAreChecked(t *testing.T) {
	three := npy("<i8", false, "(3,)", []int64{0, 1, 0})
	with := func(more ...filestest.Entry) []byte { // beside features and edges
		return archive(append(more, entry("node_features", npy("<f4", false, "(3, 1)", []float32{1, 2, 3})),
			entry("edges", npy("<i8", false, "(1, 2)", []int64{0, 1})))...)
	}
	for want, b := range map[string][]byte{
		`own.npz has an array "node_label"; is it "node_labels"?`:  with(entry("node_label", three)),
		`own.npz has an array "Y"; is it "y"?`:                     with(entry("Y", three)),
		`own.npz has an array "labelz"; is it "label"?`:            with(entry("labelz", three)),
		`own.npz has an array "trainmask"; is it "train_masks"?`:   with(entry("trainmask", three)),
		`own.npz has an array "Val_mask"; is it "val_masks"?`:      with(entry("Val_mask", three)),
		`own.npz has an array "edgeweight"; is it "edge_weights"?`: with(entry("edgeweight", three)),
		`own.npz has both "node_labels" and "y"`:                   with(entry("node_labels", three), entry("y", three)),
		`masks of both names, "train_masks" and "train_mask"`:      with(entry("val_masks", three), entry("test_mask", three)),
		`no array "val_mask"`:                                      with(entry("train_mask", three)),
		`"train_mask" has shape [2 1]; all three masks need [nodes, splits] with 3 nodes`: with(
			entry("train_mask", npy("<i8", false, "(2,)", []int64{0, 1})), entry("val_mask", three), entry("test_mask", three)),
		`"edge_weight" has shape [3]; it must have a number for each of the 1 edges`: with(entry("edge_weight", three)),
		`"train_idx" has the node 3, but nodes are numbered 0 to 2`: with(entry("train_idx", npy("<i8", false, "(1,)", []int64{3})),
			entry("val_idx", three), entry("test_idx", three)),
		`"src" has shape [3] and "dst" [1]`: archive(entry("x", npy("<f4", false, "(3, 1)", []float32{1, 2, 3})),
			entry("src", three), entry("dst", npy("<i8", false, "(1,)", []int64{1}))),
		`"edge_index" has shape [1 2], but needs two rows`: archive(entry("x", npy("<f4", false, "(3, 1)", []float32{1, 2, 3})),
			entry("edge_index", npy("<i8", false, "(1, 2)", []int64{0, 1}))),
	} {
		_, err := parseTiny(b)
		mustFail(t, want, err, want)
	}
}

// TestEveryLayoutGivesTheSameGraph stores one graph in archives of different layouts: with other number types, in the
// other byte order, and column by column (Fortran order). Every archive must give the same graph.
func TestEveryLayoutGivesTheSameGraph(t *testing.T) {
	want, err := parseTiny(tiny())
	if err != nil {
		t.Fatal(err)
	}
	for what, e := range map[string]filestest.Entry{
		"float64":           entry("node_features", npy("<f8", false, "(3, 2)", []float64{1, 2, 3, 4, 5, 6})),
		"big endian":        entry("node_features", npy(">f4", false, "(3, 2)", []float32{1, 2, 3, 4, 5, 6})),
		"big endian double": entry("node_features", npy(">f8", false, "(3, 2)", []float64{1, 2, 3, 4, 5, 6})),
		"Fortran order":     entry("node_features", npy("<f4", true, "(3, 2)", []float32{1, 3, 5, 2, 4, 6})),
		"int16":             entry("node_features", npy("<i2", false, "(3, 2)", []int16{1, 2, 3, 4, 5, 6})),
		"uint8":             entry("node_features", npy("|u1", false, "(3, 2)", []uint8{1, 2, 3, 4, 5, 6})),
		"uint64 edges":      entry("edges", npy("<u8", false, "(2, 2)", []uint64{0, 1, 2, 1})),
		"big endian edges":  entry("edges", npy(">i8", false, "(2, 2)", []int64{0, 1, 2, 1})),
		"both directions":   entry("edges", npy("<i8", false, "(5, 2)", []int64{0, 1, 1, 0, 1, 2, 2, 1, 2, 2})),
		"int8 labels":       entry("node_labels", npy("|i1", false, "(3,)", []int8{0, 1, 0})),
		"uint32 labels":     entry("node_labels", npy("<u4", false, "(3,)", []uint32{0, 1, 0})),
		"bool labels":       entry("node_labels", npy("|b1", false, "(3,)", []bool{false, true, false})),
		"float labels":      entry("node_labels", npy("<f8", false, "(3,)", []float64{0, 1, 0})),
		"float masks":       entry("train_masks", npy("<f8", false, "(1, 3)", []float64{1, 0, 0})),
		"integer masks":     entry("train_masks", npy("|u1", false, "(1, 3)", []uint8{1, 0, 0})),
		"Python 2 shape":    entry("node_labels", npy("<i8", false, "(3L,)", []int64{0, 1, 0})),
	} {
		got, err := parseTiny(tiny(e))
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if !slices.Equal(got.Features, want.Features) || !slices.Equal(got.Labels, want.Labels) ||
			!slices.Equal(got.Edges, want.Edges) || !slices.Equal(got.Splits[0].Train, want.Splits[0].Train) {
			t.Errorf("%s: got %+v", what, got)
		}
	}
}

func TestBadArchives(t *testing.T) {
	nan := float32(math.NaN())
	whole := tiny()
	for _, c := range []struct {
		what, want string
		file       []byte
	}{
		{"cut short", "perhaps cut short", whole[:len(whole)-30]},
		{"first half", "perhaps cut short", whole[:len(whole)/2]},
		{"empty", "perhaps cut short", nil},
		{"text", "perhaps cut short", []byte("<html>not found</html>")},
		{"2^40 values", "more than the limit",
			tiny(entry("node_features", npy("<f4", false, "(1048576, 1048576)", []float32{1})))},
		{"2^40 rows", "dimensions must lie between",
			tiny(entry("node_features", npy("<f4", false, "(1099511627776, 1)", []float32{1})))},
		{"overflowing shape", "dimensions must lie between",
			tiny(entry("edges", npy("<i8", false, "(4611686018427387904, 4)", []int64{1})))},
		{"overflowing number", "not a number",
			tiny(entry("edges", npy("<i8", false, "(99999999999999999999, 2)", []int64{1})))},
		{"negative shape", "dimensions must lie between",
			tiny(entry("edges", npy("<i8", false, "(-1, 2)", []int64{1})))},
		{"shape beyond the data", "but holds", tiny(entry("edges", npy("<i8", false, "(3, 2)", []int64{0, 1})))},
		{"shape below the data", "but holds", tiny(entry("edges", npy("<i8", false, "(1, 2)", []int64{0, 1, 1, 2})))},
		{"no key", `no array "edges"`, tiny(entry("edges", nil))},
		{"only one mask", `no array "val_masks"`, tiny(entry("val_masks", nil))},
		{"edge out of range", "edge 1 joins nodes 2 and 3",
			tiny(entry("edges", npy("<i4", false, "(2, 2)", []int32{0, 1, 2, 3})))},
		{"negative edge", "edge 0 joins nodes -1 and 1",
			tiny(entry("edges", npy("<i4", false, "(2, 2)", []int32{-1, 1, 2, 1})))},
		{"edge beyond 32 bits", "joins nodes 4294967296",
			tiny(entry("edges", npy("<i8", false, "(1, 2)", []int64{1 << 32, 1})))},
		{"edge beyond 63 bits", "value above",
			tiny(entry("edges", npy("<u8", false, "(1, 2)", []uint64{1 << 63, 1})))},
		{"edges in three columns", "two columns", tiny(entry("edges", npy("<i4", false, "(1, 3)", []int32{0, 1, 2})))},
		{"real-valued edges", "whole numbers", tiny(entry("edges", npy("<f4", false, "(1, 2)", []float32{0, 1})))},
		{"NaN feature", "feature 1 of node 0 is NaN",
			tiny(entry("node_features", npy("<f4", false, "(3, 2)", []float32{1, nan, 3, 4, 5, 6})))},
		{"infinite as float32", "feature 0 of node 0 is +Inf",
			tiny(entry("node_features", npy("<f8", false, "(3, 2)", []float64{1e300, 2, 3, 4, 5, 6})))},
		{"overlapping masks", "node 0 is in two masks of split 0",
			tiny(entry("val_masks", npy("|b1", false, "(1, 3)", []bool{true, false, false})))},
		{"masks of another length", "all three masks",
			tiny(entry("val_masks", npy("|b1", false, "(1, 2)", []bool{true, false})))},
		{"masks in another number", "all three masks",
			tiny(entry("val_masks", npy("|b1", false, "(2, 3)", make([]bool, 6))))},
		{"very many empty masks", "more than the limit",
			tiny(entry("train_masks", npy("|b1", false, "(2000000000, 0)", []bool{})))},
		{"mask of twos", "other than 0 and 1",
			tiny(entry("val_masks", npy("|u1", false, "(1, 3)", []uint8{2, 0, 0})))},
		{"too few labels", "has shape [2], but there are 3 nodes", tiny(entry("node_labels", npy("<i8", false, "(2,)", []int64{0, 1})))},
		{"negative label", "label -2", tiny(entry("node_labels", npy("<i8", false, "(3,)", []int64{0, -2, 0})))},
		{"huge label", "label 1099511627776",
			tiny(entry("node_labels", npy("<i8", false, "(3,)", []int64{0, 1 << 40, 0})))},
		{"objects", `type "|O"`, tiny(entry("node_labels", npy("|O", false, "(3,)", []int64{0, 1, 0})))},
		{"bytes as labels", "holds texts where numbers are needed",
			tiny(entry("node_labels", npy("|S1", false, "(3,)", []byte("aba"))))},
		{"bytes as features", "2 dimensions are needed",
			tiny(entry("node_features", npy("|S2", false, "(3,)", []byte("ababab"))))},
		{"decimal labels", "node 1 has the label 0.5, which is no whole number",
			tiny(entry("node_labels", npy("<f8", false, "(3,)", []float64{0, 0.5, 1})))},
		{"infinite label", "which is no whole number",
			tiny(entry("node_labels", npy("<f8", false, "(3,)", []float64{0, math.Inf(1), 1})))},
		{"mask of NaN", "other than 0 and 1",
			tiny(entry("val_masks", npy("<f4", false, "(1, 3)", []float32{nan, 0, 0})))},
		{"text array", "supported are bool",
			tiny(entry("node_labels", npy("<U4", false, "(3,)", make([]uint32, 12))))},
		{"half precision", "supported are bool",
			tiny(entry("node_features", npy("<f2", false, "(3, 2)", make([]uint16, 6))))},
		{"complex", "supported are bool",
			tiny(entry("node_features", npy("<c8", false, "(3, 2)", make([]float32, 12))))},
		{"flat features", "2 dimensions are needed",
			tiny(entry("node_features", npy("<f4", false, "(6,)", []float32{1, 2, 3, 4, 5, 6})))},
		{"five dimensions", "more than 4 dimensions",
			tiny(entry("edges", npy("<i4", false, "(1, 1, 1, 1, 1)", []int32{1})))},
		{"no npy", "npy format", tiny(entry("edges", []byte("hello, world")))},
		{"array twice", "twice", archive(entry("edges", nil), entry("edges", nil))},
	} {
		_, err := parseTiny(c.file)
		mustFail(t, c.what, err, c.want)
	}
}

func TestDamagedBytesAreNoticed(t *testing.T) {
	whole := tiny()
	archive, err := zip.NewReader(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
	at, err := archive.File[0].DataOffset()
	if err != nil {
		t.Fatal(err)
	}
	for i := at; i < at+min(40, int64(archive.File[0].CompressedSize64)); i++ {
		damaged := slices.Clone(whole)
		damaged[i] ^= 0x55
		if _, err := parseTiny(damaged); err == nil {
			t.Errorf("a wrong byte at %d went unnoticed", i)
		}
	}
}

// TestArchiveWithoutLabels checks that the label -1 stands for a node without a label. It also checks that an archive
// without the array of labels is accepted, since a trained model can predict the classes.
func TestArchiveWithoutLabels(t *testing.T) {
	none := []filestest.Entry{entry("train_masks", nil), entry("val_masks", nil), entry("test_masks", nil)}
	g, err := parseTiny(tiny(append(none, entry("node_labels", nil))...))
	if err != nil || g.Labelled() != 0 || g.NumClasses != 0 || g.Splits != nil {
		t.Errorf("got %+v, %v", g, err)
	}
	g, err = parseTiny(tiny(append(none, entry("node_labels", npy("<i8", false, "(3,)", []int64{0, -1, 1})))...))
	if err != nil || !slices.Equal(g.Labels, []int32{0, graphs.Unlabelled, 1}) || g.NumClasses != 2 {
		t.Errorf("got %+v, %v", g, err)
	}
	for k := range g.Splits {
		if err := g.Teaches(k); err != nil {
			t.Error(err)
		}
	}
}
