package runs

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/train"
)

// Folder is a folder of run records, on a file system that several machines share: a file for each record, written as a
// whole and never changed. SQLite's files are not for such file systems.
type Folder struct {
	dir  string
	read map[string]bool // the names of files that were collected
}

const folderEnd = ".jsonl"

// OpenFolder opens a folder, and makes it if it is missing. Machines that share it must have locks on its files.
func OpenFolder(dir string) (*Folder, error) {
	if err := files.Writable(dir); err != nil {
		return nil, err
	}
	f := &Folder{dir: dir, read: map[string]bool{}}
	host, _ := os.Hostname()
	try := fmt.Sprintf("locks-%s-%d-%d", host, os.Getpid(), time.Now().UnixNano()) // nobody else's
	a, err := f.claims().Try(try)
	if a == nil || err != nil {
		return nil, cmp.Or(err, errors.New("a lock cannot be taken"))
	}
	defer a.Release()
	b, err := f.claims().Try(try)
	if err != nil {
		return nil, err
	}
	if b != nil {
		b.Release()
		return nil, fmt.Errorf("the file system of %s has no locks on files, without which two machines would do the same "+
			"work: choose another folder (or mount it with the option flock)", dir)
	}
	return f, nil
}

func (f *Folder) claims() Claims { return Claims{f.dir + ".checkpoints"} }

const givenName = "before" + folderEnd

// Give puts all records of a store into the folder, in place of those that were given before, and returns their number.
func (f *Folder) Give(s *Store) (int, error) {
	f.read[givenName] = true
	return s.Export(filepath.Join(f.dir, givenName), Query{})
}

// Submits claims the right to submit work on the folder's records; nil if another process has it.
func (f *Folder) Submits() (*Claim, error) { return f.claims().Try("submit") }

// Collect adds the records that came into the folder since the last call to a store, and returns how many were new.
func (f *Folder) Collect(s *Store) (added int, err error) {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return 0, fmt.Errorf("cannot read the folder of run records: %w", err)
	}
	var texts []io.Reader
	var names []string
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, folderEnd) && !f.read[name] {
			text, err := os.ReadFile(filepath.Join(f.dir, name))
			if err != nil {
				return 0, fmt.Errorf("cannot read run records: %w", err)
			}
			texts, names = append(texts, bytes.NewReader(text)), append(names, name)
		}
	}
	if len(texts) == 0 {
		return 0, nil
	}
	if added, _, err = s.ImportNew(filepath.Join(f.dir, names[0]), io.MultiReader(texts...), nil); err != nil {
		return 0, err
	}
	for _, name := range names {
		f.read[name] = true
	}
	return added, nil
}

// Store returns a store, in a temporary file of this machine, that has the folder's records at any time, and whose new
// ones go into the folder.
func (f *Folder) Store() (*Store, error) {
	dir, err := os.MkdirTemp("", "revgnn-runs-")
	if err != nil {
		return nil, fmt.Errorf("no folder for a temporary file of run records: %w", err)
	}
	s, err := Open(filepath.Join(dir, "runs.sqlite"))
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	s.folder = f
	if _, err := f.Collect(s); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// put writes a record into the folder.
func (f *Folder) put(r Record) error {
	var b bytes.Buffer
	if err := WriteLines(&b, []Record{r}); err != nil {
		return err
	}
	name := r.ID + folderEnd
	f.read[name] = true
	return files.WriteText(filepath.Join(f.dir, name), b.Bytes())
}

// Count returns how many records came into the folder since a time, how many of these are of runs that failed, and how
// many of those for want of memory.
func (f *Folder) Count(since time.Time) (all, failed, starved int, err error) {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return 0, 0, 0, fmt.Errorf("cannot read the folder of run records: %w", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || info.ModTime().Before(since) || e.Name() == givenName || !strings.HasSuffix(e.Name(), folderEnd) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(f.dir, e.Name()))
		if err != nil {
			return 0, 0, 0, fmt.Errorf("cannot read run records: %w", err)
		}
		all++
		if bytes.Contains(text, []byte(`"status":"`+Failed+`"`)) {
			failed++
			if bytes.Contains(text, []byte(train.MemoryVariable)) { // which the sentence on too little memory names
				starved++
			}
		}
	}
	return all, failed, starved, nil
}
