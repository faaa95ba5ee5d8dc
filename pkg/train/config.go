package train

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/revgnn/revgnn/pkg/models"
)

// Config holds the settings of a training: those of the model and those of the optimisation. [Config.Settings] lists
// all of them. A setting has the same name as its flag on the command line, for example weight-decay. In JSON, and so
// in run records, the name has "_" instead of "-".
type Config struct {
	models.Config
	Optimisation
}

// Optimisation has the settings of Adam (Kingma and Ba 2015) and of the length of a training. As in torch.optim.Adam,
// WeightDecay times the parameters is added to the gradient. A training stops when the validation metric has not
// exceeded its best value for Patience epochs; 0 never stops early. Split k is trained with Seed + k.
type Optimisation struct {
	LearningRate float64 `name:"lr" help:"learning rate of Adam" least:"positive" most:"unlimited"`
	WeightDecay  float64 `help:"weight decay, added to the gradient" most:"unlimited"`
	Epochs       int     `help:"most full-batch steps" least:"1" most:"unlimited"`
	Patience     int     `help:"steps without a better validation metric before stopping (0: never)" most:"unlimited"`
	Seed         uint64  `help:"seed of the initial parameters and of dropout; split k uses seed + k"`
}

// Default is the default configuration for training a model: the model's settings by [models.Default], a learning rate
// of 0.005 and, as in the paper, at most 1000 epochs and a patience of 100.
func Default(model string) Config {
	return Config{models.Default(model), Optimisation{LearningRate: 0.005, Epochs: 1000, Patience: 100}}
}

// training lists the settings of the optimisation. Every model has these settings.
func (c *Config) training() []models.Setting {
	return models.SettingsOf(reflect.ValueOf(&c.Optimisation).Elem())
}

// Settings lists the settings of the model and of the training. The list points into a copy of c: if a caller changes a
// setting in the list, c does not change. To change c, use [Config.Set].
func (c Config) Settings() []models.Setting { return append(c.Config.Settings(), c.training()...) }

// Set parses text and assigns the value to the setting with the given flag name. It returns an error if the model does
// not have this setting.
func (c *Config) Set(name, text string) error {
	if s, ok := c.find(name); ok {
		return s.Parse(text)
	}
	return c.Config.Set(name, text)
}

// Decode parses raw, a value in JSON, and assigns it to the setting whose name in JSON is key. It returns an error if
// the model does not have this setting.
func (c *Config) Decode(key string, raw json.RawMessage) error {
	if s, ok := c.find(models.SettingOf(key)); ok {
		return s.Decode(raw)
	}
	return c.Config.Decode(key, raw)
}

// find returns the setting of the optimisation with the given flag name. The second result tells whether there is such
// a setting.
func (c *Config) find(name string) (models.Setting, bool) {
	list := c.training()
	i := slices.IndexFunc(list, func(s models.Setting) bool { return s.Name == name })
	if i < 0 {
		return models.Setting{}, false
	}
	return list[i], true
}

// Value returns the value of the setting with the given flag name, or nil if the model does not have this setting.
func (c Config) Value(name string) any {
	if s, ok := c.find(name); ok {
		return s.Current()
	}
	return c.Config.Value(name)
}

// Validate returns an error if a setting has an impossible value. The error names the first such setting, and says what
// to choose instead.
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

// Resolved returns c after filling in the settings that have no value in c, such as the number of layers of the head.
// These values depend on the model and on other settings; see [models.Config.Resolved].
func (c Config) Resolved() Config {
	c.Config = c.Config.Resolved()
	return c
}

// Changed returns the settings of c whose values are not the model's defaults. In both c and the defaults, the settings
// without a value are filled in first ([Config.Resolved]).
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

// Values returns the model's name and the values of all settings. The keys of the map are the names in JSON.
func (c Config) Values() map[string]any {
	out := c.Config.Values()
	for _, s := range c.training() {
		out[s.Key()] = s.Current()
	}
	return out
}

// MarshalJSON writes the model's name and all settings.
func (c Config) MarshalJSON() ([]byte, error) { return json.Marshal(c.Values()) }

// UnmarshalJSON reads what MarshalJSON writes. A missing setting gets its default value. A setting that only other
// models have is ignored, since old run records may contain it. Any other unknown name is an error.
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
