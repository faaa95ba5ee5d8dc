package datasets

import (
	"archive/zip"
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/files/filestest"
	"github.com/revgnn/revgnn/pkg/npz"
)

// TestClaimsDoNotAllocate reads small files whose headers falsely claim that the files hold a lot of data. Each file
// must be refused, and reading it must not allocate more than 4 MiB.
func TestClaimsDoNotAllocate(t *testing.T) {
	header := string(npy("<f4", false, "(16384, 16384)", []float32{}))
	billion := uint64(1<<30 + len(header))
	planetoid := tinyPlanetoid()
	planetoid["allx"] = pickled(pCSR(2, 1<<30, []int32{0, 0, 0}, []int32{}, []float32{}))
	planetoid["tx"] = planetoid["allx"]
	misfit := replaced(tiny(), "train_masks", npy("|b1", false, "(64, 1000000)", make([]byte, 64000000)))
	for what, read := range map[string]func() error{
		"stored, both sizes false": func() error {
			_, err := parseTiny(filestest.Lying("node_features", zip.Store, billion, billion, header))
			return err
		},
		"stored, one size false": func() error {
			_, err := parseTiny(filestest.Lying("node_features", zip.Store, billion, 100, header))
			return err
		},
		"deflated": func() error {
			_, err := parseTiny(filestest.Lying("node_features", zip.Deflate, billion, 100, header))
			return err
		},
		"far beyond": func() error {
			_, err := parseTiny(filestest.Lying("node_features", zip.Deflate, 1<<62, 1<<50, header))
			return err
		},
		"shapes that do not fit": func() error {
			_, err := parseTiny(misfit)
			return err
		},
		"planetoid":      func() error { _, err := parsePlanetoid(planetoid); return err },
		"pickled string": func() error { _, err := unpickle([]byte("\x80\x02T\x00\x00\x00\x7f")); return err },
		"benchmark": func() error {
			b := archive(entry("adj_shape", npy("<i8", false, "(2,)", []int64{1 << 30, 1 << 30})),
				entry("adj_indptr", npy("<i8", false, "(1,)", []int64{0})),
				entry("adj_indices", npy("<i8", false, "(0,)", []int64{})),
				entry("adj_data", npy("<f4", false, "(0,)", []float32{})))
			z, err := npz.New(bytes.NewReader(b), int64(len(b)), "small.npz")
			if err == nil {
				_, err = benchmarkGraph(z, "small")
			}
			return err
		},
		"generator": func() error { _, err := Minesweeper{1 << 20, 2, 0, 0, 0}.Graph(); return err },
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := read()
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: no error", what)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", what, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
			t.Errorf("%s: %d bytes allocated", what, used)
		}
	}
}

// TestLongRow reads CSV files in which one row never ends. The parsers must refuse this row, since the CSV reader would
// keep the whole row in memory.
func TestLongRow(t *testing.T) {
	endless := func(start string) rows { return newRows(io.MultiReader(strings.NewReader(start), zeros{})) }
	mustFail(t, "an endless row", refused(func() { parseNodes(endless("id,label,")) }), "a row is longer than")
	table := parseNodes(newRows(strings.NewReader("id,label\n" + strings.Repeat("a", maxRowBytes/2) + ",0\nb,0\n")))
	mustFail(t, "an endless row", refused(func() { parseEdges(endless("b,b\n"), table.numbers) }), "a row is longer than")
}

// refused returns the error for which a parser refuses its input, or nil.
func refused(parse func()) (err error) {
	defer returned(&err)
	parse()
	return nil
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return copy(b, bytes.Repeat([]byte("0"), len(b))), nil }
