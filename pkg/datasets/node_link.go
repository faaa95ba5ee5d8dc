package datasets

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/machine"
)

// maxJSONBytes is the largest JSON file; its content takes some ten times as much memory.
const maxJSONBytes = 1 << 28

// nodeLinkGraph reads a graph as networkx.node_link_data describes it: a JSON object with directed, nodes and edges (or
// links), and what does not matter here, multigraph and graph. Nodes have an id and attributes, edges a source, a
// target and attributes; they become the tables of [folderGraph], with a column for each attribute, in alphabetical
// order. A list of k numbers becomes the columns NAME_0 to NAME_(k-1).
func nodeLinkGraph(path string) (*graphs.Graph, error) {
	b, err := files.Read(path, "a JSON file", maxJSONBytes)
	if err != nil {
		return nil, err
	}
	return parseNodeLink(path, b)
}

func parseNodeLink(path string, b []byte) (g *graphs.Graph, err error) {
	defer func() {
		if err != nil {
			g, err = nil, fmt.Errorf("%s: %w", path, err)
		}
	}()
	if err := machine.Room(10 * int64(len(b))); err != nil {
		return nil, err
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	if !utf8.Valid(b) {
		return nil, fmt.Errorf("it is not UTF-8: save it as UTF-8")
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, fmt.Errorf("it is not the JSON of networkx.node_link_data (%w): write it by json.dump, with null "+
			"for NaN", err)
	}
	edgeKey := "edges"
	if all[edgeKey] == nil {
		edgeKey = "links" // before NetworkX 3.4
	} else if all["links"] != nil {
		return nil, fmt.Errorf("it has both edges and links; leave the list that is meant")
	}
	var nodes, links []map[string]any
	directed := false
	for key, into := range map[string]any{"nodes": &nodes, edgeKey: &links, "directed": &directed} {
		if all[key] == nil && key == "directed" {
			continue
		}
		if all[key] == nil {
			return nil, fmt.Errorf("it has no list %q: write it by json.dump(networkx.node_link_data(graph), file)", key)
		}
		decoder := json.NewDecoder(bytes.NewReader(all[key]))
		decoder.UseNumber() // numbers stay as they are written
		if err := decoder.Decode(into); err != nil {
			return nil, fmt.Errorf("%q is not as networkx.node_link_data writes it (%w)", key, err)
		}
	}
	var t *nodeTable
	var edges []graphs.Edge
	var weights []float32
	var notes []string
	table, err := asTable("nodes", nodes, "id")
	if err == nil {
		err = table.read(func(r rows) { t = parseNodes(r) })
	}
	if err == nil && len(t.raw) > 0 {
		err = table.read(func(r rows) { t.parseColumns(r) })
	}
	if err == nil && len(links) > 0 {
		if table, err = asTable(edgeKey, links, "source", "target"); err == nil {
			err = table.read(func(r rows) { edges, weights, notes = parseEdges(r, t.numbers) })
		}
	}
	if err != nil {
		return nil, err
	}
	if g, err = t.joined(path, edges, weights, directed); err != nil {
		return nil, err
	}
	for _, note := range t.notes {
		g.Notes = append(g.Notes, fmt.Sprintf("%s: nodes, as a table: %s", path, note))
	}
	for _, note := range notes {
		g.Notes = append(g.Notes, fmt.Sprintf("%s: edges, as a table: %s", path, note))
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains([]string{"nodes", edgeKey, "directed", "multigraph", "graph"}, key) {
			g.Notes = append(g.Notes, fmt.Sprintf("%s: %q is not used", path, truncate(key)))
		}
	}
	return g, nil
}

// objectTable is a list of objects as a table in CSV.
type objectTable struct {
	what string
	csv  []byte
}

// asTable has the objects as rows, after a header with the columns that are needed, and then all others. In errors,
// line k is object k - 1, since line 1 is the header.
func asTable(what string, objects []map[string]any, needed ...string) (t objectTable, err error) {
	flat, names := make([]map[string]string, len(objects)), map[string]bool{}
	for i, o := range objects {
		flat[i] = map[string]string{}
		for name, value := range o {
			one := func(k int) string { return fmt.Sprintf("%s_%d", name, k) }
			values, list := value.([]any)
			if !list {
				values, one = []any{value}, func(int) string { return name }
			}
			for k, v := range values {
				switch v.(type) {
				case nil:
					continue
				case map[string]any, []any:
					return t, fmt.Errorf("%s: %q of object %d is neither a text, a number, a boolean, nor a list of them", what,
						truncate(name), i+1)
				}
				if _, twice := flat[i][one(k)]; twice {
					return t, fmt.Errorf("%s: object %d has %q twice, once in a list: give one another name", what, i+1,
						one(k))
				}
				flat[i][one(k)], names[one(k)] = fmt.Sprint(v), true
			}
		}
		for _, name := range needed {
			if flat[i][name] == "" {
				return t, fmt.Errorf("%s: object %d has no %s, or one that is no text or number", what, i+1, name)
			}
			delete(names, name)
		}
	}
	header := append(slices.Clone(needed), slices.Sorted(maps.Keys(names))...)
	var table bytes.Buffer
	w := csv.NewWriter(&table)
	w.Write(header) // neither this nor the next can fail in memory
	for _, row := range flat {
		fields := make([]string, len(header))
		for k, name := range header {
			fields[k] = row[name]
		}
		w.Write(fields)
	}
	w.Flush()
	return objectTable{what, table.Bytes()}, nil
}

func (t objectTable) read(parse func(rows)) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s, as a table with a header: %w", t.what, err)
		}
	}()
	defer returned(&err)
	in := newRows(bytes.NewReader(t.csv))
	in.headed = true
	parse(in)
	return nil
}
