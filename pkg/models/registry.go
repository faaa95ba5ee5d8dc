package models

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Kind describes a model to all other code, which finds it in the registry and does not depend on models' names.
type Kind struct {
	// Name is what users type, such as "gcn+rep". Title is the name in tables, such as "GCN+ReP".
	Name, Title string
	// Alias is another name for it, or "". Confused says in a sentence which other network people may mean by Name.
	Alias, Confused string
	// Layer is the formula of a layer, in one line. Reference is the publication that the model is from.
	Layer, Reference string
	// Plain is, for a model with a reverse process, the name of the same model without it: "gcn" for "gcn+rep".
	Plain string
	// Suggested marks the model that commands use if the user names none.
	Suggested bool
	// Shared names those settings of [Config] that the model has; all other shared settings are refused. Own are the
	// model's own settings: a struct that holds their defaults, whose fields have tags (see SettingsOf), or nil.
	Shared []string
	Own    any
	// DropFeatures says that dropout also acts on the node features.
	DropFeatures bool
	// Detached says that, by design, the gradient of training is not that of the loss: the model treats estimates, such
	// as estimated labels, as constants.
	Detached bool
	// ReadsLabels says that the model reads the labels of its training nodes ([Builder.Known]) when it predicts, too.
	// It can then predict only on the graph that it was trained on.
	ReadsLabels bool
	// Weighted says that edges may have weights: the formula has an adjacency matrix, whose entries they are, or none.
	// Other models refuse weighted graphs.
	Weighted bool
	// LossStaysPositive says that the loss stays above 0 even if all nodes are classified right, since logits are
	// bounded or a penalty does not vanish.
	LossStaysPositive bool
	// New makes the network of a configuration, which is valid and resolved.
	New func(c Config) Network

	// The following may be nil. Defaults changes the usual defaults of the shared settings. Resolve fills in settings
	// that depend on others. Check refuses impossible combinations. Depth is a short text, else the numbers of layers:
	// "8", or "8/16" with 16 reverse layers.
	Defaults func(c *Config)
	Resolve  func(c *Config)
	Check    func(c Config) error
	Depth    func(c Config) string
	// Pretraining is the number of first epochs in which only a part of the parameters is trained. Early stopping and
	// the choice of the best epoch consider only the epochs after it. If a training ends before, its result has the
	// parameters of the last epoch.
	Pretraining func(c Config) int
	// Explain says why a computation with this Output.Stats.Outcome failed, or "".
	Explain func(c Config, outcome int) string
	// Unused names the arrays that only the PyTorch implementation has, which a file of its weights may hold.
	Unused func(c Config) []string
}

// registry has all kinds by name; init functions fill it.
var registry = map[string]Kind{}

// Register adds kinds of models. It panics if a name is taken, if a shared setting does not exist, or if a setting of
// the model's own has a name that is not allowed.
func Register(kinds ...Kind) {
	for _, k := range kinds {
		for _, name := range []string{k.Name, k.Alias} {
			if _, err := Lookup(name); err == nil {
				panic(fmt.Errorf("model %q cannot be registered: there is one of this name", name))
			}
		}
		if k.Name == "" || k.New == nil {
			panic(fmt.Errorf("model %q cannot be registered: it needs a name, and New", k.Name))
		}
		var c Config
		for _, name := range k.Shared {
			if indexOf(c.shared(), name) < 0 {
				panic(fmt.Errorf("model %q names a shared setting %q, which does not exist", k.Name, name))
			}
		}
		k.checkOwn()
		registry[k.Name] = k
	}
}

// reserved lists names of flags and of settings of a training, which no model may give to a setting of its own.
var reserved = []string{"model", "dataset", "lr", "weight-decay", "epochs", "patience", "seed", "depth", "metric",
	"scale", "fit-on", "missing", "structure", "edge-weights", "class-weights",
	"optimiser", "schedule", "warmup", "clip-norm", "label-smoothing",
	"splits", "split", "out", "resume", "checkpoint-every", "jobs", "on", "site", "sbatch", "share", "runs",
	"weights",
	"space", "trials", "hours", "reduction", "min-epochs", "evaluate", "save",
	"gradients", "unlabelled", "embeddings", "part",
	"engine", "threads", "data", "mirror", "offline", "json", "quiet", "help"}

func Reserved(name string) bool { return slices.Contains(reserved, name) }

// checkOwn panics if a setting of the model's own has a reserved name, that of a shared setting, or that of another
// model's setting of another type.
func (k Kind) checkOwn() {
	if k.Own == nil {
		return
	}
	var c Config
	for _, s := range SettingsOf(addressable(k.Own)) {
		taken := Reserved(s.Name) || indexOf(c.shared(), s.Name) >= 0
		for _, other := range registry {
			v := Default(other.Name).Value(s.Name)
			taken = taken || v != nil && fmt.Sprintf("%T", v) != fmt.Sprintf("%T", s.Current())
		}
		if taken {
			panic(fmt.Errorf("model %q has a setting %q of its own: choose a name that is not taken", k.Name, s.Name))
		}
	}
}

// Kinds lists the models by name: first those that exist both without and with a reverse process ("gat", "gat+rep",
// "gcn", …), then all others.
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

// Lookup finds a model by its name or its alias.
func Lookup(name string) (Kind, error) {
	if k, ok := registry[name]; ok {
		return k, nil
	}
	if k, ok := find(func(k Kind) bool { return k.Alias == name && name != "" }); ok {
		return k, nil
	}
	return Kind{}, fmt.Errorf("unknown model %q: choose one of %s", name, strings.Join(Names(), ", "))
}

// Suggested is the name of the model that commands use if the user names none.
func Suggested() string {
	k, _ := find(func(k Kind) bool { return k.Suggested })
	return k.Name
}

// WithReverse is the same model with a reverse process: "gcn+rep" for "gcn". ok is false if there is none.
func (k Kind) WithReverse() (Kind, bool) {
	return find(func(other Kind) bool { return other.Plain == k.Name && k.Name != "" })
}

// find returns the model of which is is true, if there is one.
func find(is func(k Kind) bool) (Kind, bool) {
	for _, k := range registry {
		if is(k) {
			return k, true
		}
	}
	return Kind{}, false
}

// Has tells whether the model has the shared setting with the given name.
func (k Kind) Has(name string) bool { return slices.Contains(k.Shared, name) }
