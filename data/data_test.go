package data

import (
	"encoding/hex"
	"net/url"
	"path"
	"testing"
)

func TestManifestIsComplete(t *testing.T) {
	sets := Datasets()
	if len(sets) < 12 {
		t.Errorf("%d datasets, want at least the paper's 12", len(sets))
	}
	seen := map[string]bool{}
	for _, s := range sets {
		want, known := map[string]int{Platonov: 1, Planetoid: 8, GNNBenchmark: 1}[s.Format]
		if known && len(s.Files) != want || len(s.Files) == 0 {
			t.Errorf("%s: %d files in format %q", s.Name, len(s.Files), s.Format)
		}
		if s.Task != Accuracy && s.Task != ROCAUC || (s.Task == ROCAUC) != (s.Statistics.Classes == 2) {
			t.Errorf("%s: task %q with %d classes", s.Name, s.Task, s.Statistics.Classes)
		}
		if s.Licence == "" || s.Citation == "" || s.Statistics.Nodes == 0 || s.Statistics.Features == 0 {
			t.Errorf("%s: an entry is missing", s.Name)
		}
		if (s.Directed != nil) != (s.Statistics.DirectedEdges > 0) {
			t.Errorf("%s: %d directed edges, and the file of them is %v",
				s.Name, s.Statistics.DirectedEdges, s.Directed)
		}
		for _, f := range s.All() {
			if seen[f.Name] {
				t.Errorf("%s is listed twice", f.Name)
			}
			seen[f.Name] = true
			u, err := url.Parse(f.Address)
			if err != nil || u.Scheme != "https" || path.Base(u.Path) != f.Name {
				t.Errorf("%s: address %q", f.Name, f.Address)
			}
			sum, err1 := hex.DecodeString(f.SHA256)
			blob, err2 := hex.DecodeString(f.GitBlob)
			if err1 != nil || len(sum) != 32 || err2 != nil || len(blob) != 20 || f.Bytes <= 0 {
				t.Errorf("%s: size or sums are malformed", f.Name)
			}
		}
	}
}
