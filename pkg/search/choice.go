package search

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/runs"
)

// Choices is a file of settings that searches have chosen, in the form of a profile ([runs.Profile]).
type Choices struct {
	Chosen []runs.Choice `json:"chosen"`
}

const maxChoices = 16 << 20

// OpenChoices reads a file of chosen settings. A file that does not exist has none.
func OpenChoices(path string) (c Choices, err error) {
	text, err := files.Read(path, "a file of chosen settings as JSON", maxChoices)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	} else if err != nil {
		return c, err
	}
	if err := files.Strict(text, &c); err != nil {
		return c, fmt.Errorf("%s is no file of chosen settings (%w): give another name", path, err)
	}
	return c, nil
}

// Choice returns those settings of the best trial that differ from the model's defaults, and the ID of the search.
func (r *Result) Choice() runs.Choice {
	c := runs.Choice{Dataset: r.Dataset, Model: r.Model, Settings: runs.Settings{}, Search: r.Search}
	for _, s := range r.Config.Changed() {
		c.Settings[s.Key()], _ = json.Marshal(s.Current()) // cannot fail: settings are plain values
	}
	c.Note = fmt.Sprintf("trial %d of %d from the space %s, validation %s %.4f on splits %v after %.0f epochs of %d",
		r.Best.Trial, len(r.Trials), r.Space, r.Metric, r.Best.Val, r.Splits, r.Best.Epochs,
		r.Config.Epochs)
	return c
}

// Save writes the [Result.Choice] into a file, in place of what an earlier search has chosen for the same model and
// dataset. Settings that are from no search ([runs.Choice.Source]) stay. Save waits while another process writes.
func (r *Result) Save(ctx context.Context, path string) error {
	lock, err := files.AwaitLock(ctx, path+".lock")
	if err != nil {
		return fmt.Errorf("the chosen settings cannot be put into %s: %w", path, err)
	}
	defer lock.Release()
	kept, err := OpenChoices(path)
	if err != nil {
		return err
	}
	kept.Chosen = slices.DeleteFunc(kept.Chosen, func(c runs.Choice) bool {
		return c.Dataset == r.Dataset && c.Model == r.Model && c.Source == ""
	})
	kept.Chosen = append(kept.Chosen, r.Choice())
	text, err := json.MarshalIndent(kept, "", "  ")
	if err != nil {
		return err
	}
	return files.WriteText(path, append(text, '\n'))
}

// Describe returns the settings of a trial as text, such as "hidden 32, lr 0.01".
func Describe(s runs.Settings) string {
	var b bytes.Buffer
	for i, key := range slices.Sorted(maps.Keys(s)) {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %s", key, text(s[key]))
	}
	return b.String()
}

func text(value json.RawMessage) string { return string(bytes.Trim(value, `"`)) }
