package train

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/revgnn/revgnn/pkg/models"
)

// Config has the settings of the model and of the optimisation. In JSON, and so in run records, "weight-decay" is
// "weight_decay".
type Config struct {
	models.Config
	Optimisation
}

// Optimisation has the settings of Adam (Kingma and Ba 2015) and of the length of a training. As in torch.optim.Adam,
// WeightDecay times the parameters is added to the gradient.
type Optimisation struct {
	LearningRate float64 `name:"lr" help:"learning rate of Adam" least:"positive" most:"unlimited"`
	WeightDecay  float64 `help:"weight decay, added to the gradient" most:"unlimited"`
	Epochs       int     `help:"most full-batch steps" least:"1" most:"unlimited"`
	Patience     int     `help:"steps without a better validation metric before stopping (0: never)" most:"unlimited"`
	Seed         uint64  `help:"seed of the initial parameters and of dropout; split k uses seed + k"`
}

// Default has the model's defaults, a learning rate of 0.005 and, as in the paper, at most 1000 epochs and a patience of
// 100.
func Default(model string) Config {
	return Config{models.Default(model), Optimisation{LearningRate: 0.005, Epochs: 1000, Patience: 100}}
}

// training lists the settings of the optimisation.
func (c *Config) training() []models.Setting {
	return models.SettingsOf(reflect.ValueOf(&c.Optimisation).Elem())
}

// Settings point into a copy of c: to change c, use [Config.Set].
func (c Config) Settings() []models.Setting { return append(c.Config.Settings(), c.training()...) }

// Set parses the value of the setting with this name, which the model must have.
func (c *Config) Set(name, text string) error {
	if s, ok := c.find(name); ok {
		return s.Parse(text)
	}
	return c.Config.Set(name, text)
}

// Decode is Set for a value in JSON and the name in JSON.
func (c *Config) Decode(key string, raw json.RawMessage) error {
	if s, ok := c.find(models.SettingOf(key)); ok {
		return s.Decode(raw)
	}
	return c.Config.Decode(key, raw)
}

// find is the setting of the optimisation with this name.
func (c *Config) find(name string) (models.Setting, bool) {
	list := c.training()
	i := slices.IndexFunc(list, func(s models.Setting) bool { return s.Name == name })
	if i < 0 {
		return models.Setting{}, false
	}
	return list[i], true
}

// Value is that of the setting with this name, or nil if the model lacks it.
func (c Config) Value(name string) any {
	if s, ok := c.find(name); ok {
		return s.Current()
	}
	return c.Config.Value(name)
}

// Validate names the first setting with an impossible value, and says what to choose.
func (c Config) Validate() error {
	if err := c.Config.Validate(); err != nil {
		return err
	}
	for _, s := range c.training() {
		if err := s.Check(); err != nil {
			return err
		}
	}
	return nil
}

// Resolved fills in settings that depend on others; see [models.Config.Resolved].
func (c Config) Resolved() Config {
	c.Config = c.Config.Resolved()
	return c
}

// Changed are the settings whose values are not the model's defaults, after both are resolved.
func (c Config) Changed() (list []models.Setting) {
	c = c.Resolved()
	usual := Default(c.Model).Resolved()
	for _, s := range c.Settings() {
		if s.Current() != usual.Value(s.Name) {
			list = append(list, s)
		}
	}
	return list
}

// Values has the model's name and the values of all settings by their names in JSON.
func (c Config) Values() map[string]any {
	out := c.Config.Values()
	for _, s := range c.training() {
		out[s.Key()] = s.Current()
	}
	return out
}

// MarshalJSON writes the model's name and all settings.
func (c Config) MarshalJSON() ([]byte, error) { return json.Marshal(c.Values()) }

// UnmarshalJSON gives missing settings their defaults, and ignores those that only other models have, since old records
// have them. Other unknown names are errors.
func (c *Config) UnmarshalJSON(b []byte) error {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(b, &values); err != nil {
		return err
	}
	var name string
	json.Unmarshal(values["model"], &name)
	*c = Default(name)
	model := maps.Clone(values)
	for _, s := range c.training() {
		if raw, ok := values[s.Key()]; ok {
			if err := s.Decode(raw); err != nil {
				return err
			}
		}
		delete(model, s.Key())
	}
	return c.Config.Read(model)
}

// Options are the options of [Fit]; nil stands for none.
type Options struct {
	// Epoch is called after every epoch.
	Epoch func(Epoch)
	// Checkpoint says where the training saves its state, and is resumed from.
	Checkpoint *Checkpoint
	// Notice is called with a sentence about checkpoints: that and why the training is resumed or not, or that one could
	// not be written.
	Notice func(text string)
	// Until, if above 0, pauses the training after this number of epochs, with a checkpoint and the status [Paused]. The
	// same training with a larger Until, or 0, goes on from there. After writing it, the training may run a step that
	// only computes the metrics of the last epoch.
	Until int
}

// Checkpoint is a file with the state of an unfinished training: all variables of the training program (parameters, Adam's
// moments, running statistics, the random number generator), the best weights so far, the history, and the counters of
// early stopping. On the same engine and machine, a resumed training gives the same numbers as an uninterrupted one, bit
// for bit, except times and memory.
//
// The file is written regularly and at an interruption, as a whole or not at all ([files.Write]). The caller removes it
// after storing the result. Two trainings must not use the same file at the same time.
type Checkpoint struct {
	Path string
	// Every is the least time between two checkpoints. 0 stands for [CheckpointEvery].
	Every time.Duration
	// Versions are those of the software on which results depend. A training is not resumed from a file with others.
	Versions map[string]string
	// Replace starts over, and overwrites the file, if it has the state of another training. Else this is an
	// [OriginError].
	Replace bool
}

// CheckpointEvery is the default time between two checkpoints.
const CheckpointEvery = 2 * time.Minute

// every is the time until the next checkpoint, given that of writing the last one.
func (c *Checkpoint) every(took time.Duration) time.Duration {
	const most = 20 // checkpoints take less than a twentieth of the time
	every := c.Every
	if every == 0 {
		every = CheckpointEvery
	}
	return max(every, most*took)
}
