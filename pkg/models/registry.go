package models

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Kind describes a model to all other code: what users read about it, its settings, and the function that makes its
// network. The file of a model registers the model's kinds, such as "gcn" and "gcn+rep". All other code finds the kinds
// in the registry, and does not depend on the names of models.
type Kind struct {
	// Name is what users type, such as "gcn+rep". Title is the name in tables, such as "GCN+ReP".
	Name, Title string
	// Layer is the formula of a layer, in one line. Reference is the publication that the model is from.
	Layer, Reference string
	// Plain is empty for a model without reverse process. For a model with reverse process, it is the name of the same
	// model without reverse process: "gcn" for "gcn+rep".
	Plain string
	// Suggested marks the model that commands use if the user names none.
	Suggested bool
	// Shared names those settings of [Config] that the model has; all other shared settings are refused. Own are the
	// model's own settings: a struct that holds their defaults, whose fields have tags (see SettingsOf), or nil.
	Shared []string
	Own    any
	// Defaults, if not nil, changes the usual defaults of the shared settings.
	Defaults func(c *Config)
	// DropFeatures says that dropout also acts on the node features. In training, entries of the features are set to 0
	// with the probability that the setting "dropout" gives.
	DropFeatures bool
	// Resolve, if not nil, fills in settings that depend on other settings. Check, if not nil, refuses impossible
	// combinations of settings.
	Resolve func(c *Config)
	Check   func(c Config) error
	// Depth, if not nil, returns the depth of a configuration as a short text. If Depth is nil, this text has the
	// numbers of layers: "8" for 8 forward layers, and "8/16" for 8 forward and 16 reverse layers.
	Depth func(c Config) string
	// Detached tells that the gradient of training differs from the true gradient of the model's loss. This is by
	// design: the model treats some of its estimates, such as estimated labels, as constants.
	Detached bool
	// ReadsLabels tells that the model reads the labels of its training nodes ([Builder.Known]) not only in training
	// but also in prediction. Such a model can predict only on the graph that it was trained on.
	ReadsLabels bool
	// Floor tells that the model's loss stays above 0 even if all nodes are classified right. The reason is that its
	// logits are bounded, or that its loss has a penalty that does not vanish.
	Floor bool
	// New makes the network of a configuration. The configuration is valid, and Resolve has been applied to it.
	New func(c Config) Network
}

// registry holds all kinds by their names. It is filled while packages are initialised, and only read afterwards.
var registry = map[string]Kind{}

// Register adds kinds of models to the registry. The init function of a model's file calls Register. Register panics if
// the name of a kind is taken, if a kind names a shared setting that does not exist, or if one of its own settings has
// a name that is not allowed.
func Register(kinds ...Kind) {
	for _, k := range kinds {
		if _, taken := registry[k.Name]; taken {
			panic(fmt.Errorf("model %q cannot be registered: there is one of this name", k.Name))
		}
		if k.Name == "" || k.New == nil {
			panic(fmt.Errorf("model %q cannot be registered: it needs a name, and New", k.Name))
		}
		var c Config
		for _, name := range k.Shared {
			if !slices.ContainsFunc(c.shared(), func(s Setting) bool { return s.Name == name }) {
				panic(fmt.Errorf("model %q names a shared setting %q, which does not exist", k.Name, name))
			}
		}
		k.checkOwn()
		registry[k.Name] = k
	}
}

// reserved lists names of command-line flags and of settings of a training. No model may give one of these names to a
// setting of its own.
var reserved = []string{"model", "dataset", "lr", "weight-decay", "epochs", "patience", "seed", "depth",
	"splits", "split", "out", "resume", "checkpoint-every", "runs", "weights",
	"space", "trials", "hours", "reduction", "min-epochs", "evaluate", "save",
	"gradients", "unlabelled", "engine", "threads", "data", "mirror", "offline", "json", "quiet", "help"}

// Reserved tells whether a name is reserved, so that no model may give it to a setting of its own.
func Reserved(name string) bool { return slices.Contains(reserved, name) }

// checkOwn panics if one of the model's own settings has a name that is reserved, or the name of a shared setting. It
// also panics if another model has a setting of the same name but of a different type.
func (k Kind) checkOwn() {
	if k.Own == nil {
		return
	}
	var c Config
	for _, s := range SettingsOf(addressable(k.Own)) {
		taken := Reserved(s.Name) ||
			slices.ContainsFunc(c.shared(), func(other Setting) bool { return other.Name == s.Name })
		for _, other := range registry {
			v := Default(other.Name).Value(s.Name)
			taken = taken || v != nil && fmt.Sprintf("%T", v) != fmt.Sprintf("%T", s.Current())
		}
		if taken {
			panic(fmt.Errorf("model %q has a setting %q of its own: choose a name that is not taken", k.Name, s.Name))
		}
	}
}

// Kinds lists all models in two parts. The first part has the models that exist both without and with a reverse
// process: "gat", "gat+rep", "gcn", "gcn+rep", and so on. The second part has all other models. Both parts are ordered
// by name.
func Kinds() []Kind {
	family := map[string]bool{}
	all := make([]Kind, 0, len(registry))
	for _, k := range registry {
		all = append(all, k)
		family[k.Plain] = true
	}
	slices.SortFunc(all, func(a, b Kind) int {
		one, two := cmp.Or(a.Plain, a.Name), cmp.Or(b.Plain, b.Name)
		if family[one] != family[two] {
			if family[one] {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(one, two), cmp.Compare(a.Plain, b.Plain))
	})
	return all
}

func Names() []string {
	var names []string
	for _, k := range Kinds() {
		names = append(names, k.Name)
	}
	return names
}

func Lookup(name string) (Kind, error) {
	if k, ok := registry[name]; ok {
		return k, nil
	}
	return Kind{}, fmt.Errorf("unknown model %q: choose one of %s", name, strings.Join(Names(), ", "))
}

// Suggested is the name of the model that commands use if the user names none.
func Suggested() string {
	for _, k := range Kinds() {
		if k.Suggested {
			return k.Name
		}
	}
	return ""
}

// WithReverse returns the same model with a reverse process: the kind "gcn+rep" if k is "gcn". The second result is
// false if there is no such kind.
func (k Kind) WithReverse() (Kind, bool) {
	for _, other := range registry {
		if other.Plain == k.Name && k.Name != "" {
			return other, true
		}
	}
	return Kind{}, false
}

// Has tells whether the model has the shared setting with the given name.
func (k Kind) Has(name string) bool { return slices.Contains(k.Shared, name) }
