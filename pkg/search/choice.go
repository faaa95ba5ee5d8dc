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

	"github.com/revgnn/revgnn/pkg/experiment"
	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/train"
)

// Choices is the content of a file of chosen settings. The list Chosen has the same form as in a profile
// ([experiment.Profile]).
type Choices struct {
	Chosen []experiment.Choice `json:"chosen"`
}

// maxChoices is the largest size, in bytes, that a file of choices may have.
const maxChoices = 16 << 20

// OpenChoices reads a file of choices. If there is no such file, it returns no choices and no error.
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

// Choice returns what the search has chosen: those settings of the best trial that differ from the model's defaults,
// and the ID of the search, by which the records of the search are found.
func (r *Result) Choice() experiment.Choice {
	c := experiment.Choice{Dataset: r.Dataset, Model: r.Model, Settings: experiment.Settings{}, Search: r.Search}
	usual := train.Default(r.Model).Resolved().Values()
	for key, value := range r.Config.Values() {
		text, _ := json.Marshal(value) // cannot fail: settings are plain values
		if with, _ := json.Marshal(usual[key]); key != "model" && !bytes.Equal(text, with) {
			c.Settings[key] = text
		}
	}
	c.Note = fmt.Sprintf("trial %d of %d from the space %s, validation %s %.4f on splits %v after %.0f epochs of %d",
		r.Best.Trial, len(r.Trials), r.Space, r.Metric, r.Best.Val, r.Splits, r.Best.Epochs,
		r.Config.Epochs)
	return c
}

// Save puts the choice into a file of choices, in place of an earlier choice for the same model and dataset. While
// another search writes to the file, Save waits until this is done, or until ctx ends.
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
	kept.Chosen = slices.DeleteFunc(kept.Chosen, func(c experiment.Choice) bool {
		return c.Dataset == r.Dataset && c.Model == r.Model
	})
	kept.Chosen = append(kept.Chosen, r.Choice())
	text, err := json.MarshalIndent(kept, "", "  ")
	if err != nil {
		return err
	}
	return files.WriteText(path, append(text, '\n'))
}

// Describe returns the settings of a trial as text, such as "hidden 32, lr 0.01".
func Describe(s experiment.Settings) string {
	var b bytes.Buffer
	for i, key := range slices.Sorted(maps.Keys(s)) {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %s", key, text(s[key]))
	}
	return b.String()
}

// text returns a setting's value without the quotes of JSON.
func text(value json.RawMessage) string { return string(bytes.Trim(value, `"`)) }
