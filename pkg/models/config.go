package models

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/metrics"
)

// Config has the settings of a model and of its training. In JSON, and so in run records, "max-iterations" is
// "max_iterations". A model has those shared settings that its [Kind] names; all others are zero.
type Config struct {
	Model string // one of [Names]
	SharedSettings
	Own any // the model's own settings: see [OwnOf]
	Optimisation
	Preparation
	Objective
}

// Optimisation has the settings of Adam (Kingma and Ba 2015) and of the length of a training. As in torch.optim.Adam,
// WeightDecay times the parameters is added to the gradient; as in torch.optim.AdamW (Loshchilov and Hutter 2019),
// adamw subtracts LearningRate times WeightDecay times the parameters from them instead.
type Optimisation struct {
	LearningRate float64 `name:"lr" help:"learning rate of Adam" least:"positive" most:"unlimited"`
	WeightDecay  float64 `help:"weight decay, added to the gradient" most:"unlimited"`
	Epochs       int     `help:"most full-batch steps" least:"1" most:"unlimited"`
	Patience     int     `help:"steps without a better validation metric before stopping (0: never)" most:"unlimited"`
	Seed         uint64  `help:"seed of the initial parameters and of dropout; split k uses seed + k"`
	Optimiser    string  `absent:"adam" oneof:"adam,adamw" help:"optimiser, with weight decay in the gradient or apart"`
	// Schedule and Warmup change the learning rate from epoch to epoch: see package train.
	Schedule string `absent:"constant" oneof:"constant,cosine,plateau" help:"how the learning rate falls"`
	Warmup   int    `absent:"0" most:"unlimited" help:"first epochs, in which the learning rate rises evenly to --lr"`
	// ClipNorm is the largest norm of all gradients together, as in torch.nn.utils.clip_grad_norm_. LabelSmoothing ε
	// turns the label's share of 1 in the loss into 1 - ε, and spreads ε evenly over all classes.
	ClipNorm       float64 `absent:"0" most:"unlimited" help:"bound on the norm of all gradients together (0: none)"`
	LabelSmoothing float64 `absent:"0" most:"0.99" help:"share of the loss that is spread over all classes alike"`
}

// Preparation has the settings of what becomes of a graph before a model reads it.
type Preparation struct {
	graphs.Preparation
	EdgeWeights string `absent:"use" oneof:"use,ignore" help:"what becomes of edges' weights, where there are any"`
}

// Objective has the settings of what a training is after.
type Objective struct {
	// Metric on validation nodes decides on the best epoch, on early stopping, and in searches. Auto is ROC-AUC for two
	// classes, else accuracy.
	Metric string `absent:"auto" oneof:"measures" help:"metric on validation nodes to train for"`
	// ClassWeights are those of the cross-entropy: "balanced" stands for n / (k n_c), with the training nodes n, those of
	// a class n_c and the number k of classes that have some, as in scikit-learn; else there is a number for each class,
	// in their order, or NAME=NUMBER for some and 1 for others.
	ClassWeights string `absent:"none" help:"weights of classes in the loss: none, balanced, 1,5,2 or NAME=5"`
}

// training lists the settings that every training has. Those with an absent value have it by default; JSON leaves them
// out then, since records of trainings without them stay what they are.
func (c *Config) training() (list []Setting) {
	for _, group := range []any{&c.Optimisation, &c.Preparation, &c.Objective} {
		list = append(list, SettingsOf(reflect.ValueOf(group).Elem())...)
	}
	return list
}

// SharedSettings are settings that models share, by the field's name in lower case with dashes. Tags have the default,
// the limits and the help; see SettingsOf.
type SharedSettings struct {
	Forward    int     `default:"8" most:"1048576" help:"forward layers"`
	Reverse    int     `default:"8" most:"1048576" absent:"0" reverse:"true" help:"reverse layers"`
	Hidden     int     `default:"64" least:"1" most:"16384" help:"width of the layers"`
	Heads      int     `default:"1" least:"1" most:"64" absent:"1" help:"attention heads"`
	Dropout    float64 `most:"0.99" absent:"0" help:"probability of dropping a feature"`
	Activation string  `default:"relu" absent:"relu" oneof:"relu,leaky-relu,elu,tanh,softplus" help:"activation"`
	Ego        bool    `absent:"false" help:"give layers a weight for the node itself, apart from its neighbours"`
	// Lipschitz is the bound c < 1 on the sum of the norms of a layer's weights (paper section 3.3). Normalise
	// "project" keeps it after every step of the optimiser, as in the paper; "reparametrise" inside the model, as in
	// the authors' code.
	Lipschitz float64 `default:"0.999" least:"1e-6" most:"0.9999999" help:"bound on the norm of the layers' weights"`
	Bound     string  `default:"frobenius" oneof:"frobenius,spectral" help:"norm that is bounded; spectral is wider"`
	Normalise string  `default:"project" oneof:"project,reparametrise" help:"how the bound is kept"`
	// LayerInit "small" starts layers close to the identity, "glorot" as in the authors' code; see [Config.startNorm].
	LayerInit string `default:"small" oneof:"small,glorot" help:"initial weights of layers with a bound"`
	// Tolerance, MaxIterations and Adjoint are those of [solve.Options].
	Tolerance     float64 `default:"1e-5" most:"1" help:"mean absolute change at which a fixed-point iteration ends"`
	MaxIterations int     `default:"16" least:"1" most:"65536" help:"most fixed-point iterations per layer"`
	Adjoint       string  `default:"implicit" oneof:"implicit,unrolled" help:"gradient of a reverse layer"`

	// Norm is that of [Builder.Norm]; in the paper's models, it comes before the head.
	Norm string `default:"none" absent:"none" oneof:"none,layer,batch,instance" help:"normalisation"`
	// NormLayers is LayerNorm without parameters, or PairNorm with one factor for all rows (pair) or one each
	// (pair-si).
	NormLayers string  `default:"none" absent:"none" oneof:"none,layer,pair,pair-si" help:"normalisation after each layer"`
	NormScale  float64 `default:"1" least:"1e-6" most:"1e6" help:"length that PairNorm gives to a node's state"`
	// BlockGate and BlockNorm change h, and BlockScale is a factor s of its weights, h(X) = σ(s (Â X W + b)); the bound
	// on Lip(h) holds, times s. With s = L0/L, L layers train by the settings that suit L0: see [Builder.blockScaled].
	BlockGate  bool    `absent:"false" help:"a gate in (0, 1) for each channel of what layers add to a node"`
	BlockNorm  string  `default:"none" absent:"none" oneof:"none,center,center-nodes,ball" help:"normalisation of their input"`
	BlockScale float64 `default:"1" absent:"1" least:"1e-6" most:"1" help:"factor of the layers' weights and bias"`

	DropEdge     float64 `most:"1" absent:"0" help:"probability of dropping an edge in a training step (DropEdge)"`
	HalfHop      float64 `most:"1" absent:"0" help:"share of nodes whose edges lead through slow nodes (Half-Hop)"`
	HalfHopAlpha float64 `default:"0.5" most:"1" help:"weight of an edge's source in its slow node's features"`

	// The formula of the paper's section 3.3 has no bias; the authors' code has one.
	NoBias     bool `absent:"false" help:"leave the bias out of the layers"`
	HeadLayers int  `most:"16" help:"linear layers in the head, with ReLU between them (0: as the authors)"`
	Undirected bool `absent:"true" help:"leave out the directions of edges, where there are any"`
}

// shared lists all shared settings. They point to the fields of c.
func (c *Config) shared() []Setting { return SettingsOf(reflect.ValueOf(&c.SharedSettings).Elem()) }

// usual has the defaults of the shared settings.
var usual = sync.OnceValue(func() (c Config) {
	for _, s := range c.shared() {
		if s.Default == "" {
			continue
		}
		if err := s.Parse(s.Default); err != nil {
			panic(err)
		}
	}
	return c
})

// Default has the default settings of a model and, as in the paper, at most 1000 epochs and a patience of 100. If there
// is no model of this name, its settings are zero.
func Default(model string) Config {
	c := Config{Model: model, Optimisation: Optimisation{LearningRate: 0.005, Epochs: 1000, Patience: 100}}
	for _, s := range c.training() {
		if s.Absent != nil {
			s.value.Set(reflect.ValueOf(s.Absent))
		}
	}
	k, err := Lookup(model)
	if err != nil {
		return c
	}
	c.Model = k.Name
	all := usual()
	if k.Defaults != nil {
		k.Defaults(&all)
	}
	fields := c.shared()
	for i, s := range all.shared() {
		if k.Has(s.Name) {
			fields[i].value.Set(s.value)
		}
	}
	c.Own = k.Own
	return c
}

// HasReverse tells whether the model has a reverse process.
func (c Config) HasReverse() bool { return registry[c.Model].Plain != "" }

// Contraction is s c, the bound on Lip(h): BlockScale times Lipschitz.
func (c Config) Contraction() float64 {
	if c.BlockScale == 0 { // the model does not have this setting
		return c.Lipschitz
	}
	return c.BlockScale * c.Lipschitz
}

// Depth is a short text: "8/16" for 8 forward and 16 reverse layers.
func (c Config) Depth() string {
	if k := registry[c.Model]; k.Depth != nil {
		return k.Depth(c)
	}
	if c.HasReverse() {
		return fmt.Sprintf("%d/%d", c.Forward, c.Reverse)
	}
	return fmt.Sprint(c.Forward)
}

// Resolved fills in the settings that depend on others, such as the number of layers of the head.
func (c Config) Resolved() Config {
	if k := registry[c.Model]; k.Resolve != nil {
		k.Resolve(&c)
	}
	return c
}

// Changed are the settings whose values are not the model's defaults, after both are resolved.
func (c Config) Changed() (list []Setting) {
	usual := Default(c.Model).Resolved()
	for _, s := range c.Resolved().Settings() {
		if s.Current() != usual.Value(s.Name) {
			list = append(list, s)
		}
	}
	return list
}

// Validate names the first setting that has an impossible value or that the model lacks, and says what to choose.
func (c Config) Validate() error {
	k, err := Lookup(c.Model)
	if err != nil {
		return err
	}
	if have, want := fmt.Sprintf("%T", c.Own), fmt.Sprintf("%T", k.Own); have != want {
		return fmt.Errorf("the configuration of %s has settings of another model (%s): begin with models.Default(%q)",
			c.Model, have, c.Model)
	}
	for _, s := range c.shared() {
		if !k.Has(s.Name) && !s.value.IsZero() {
			return c.refuse(s.Name)
		}
	}
	for _, s := range c.Settings() {
		if err := s.Check(); err != nil {
			return err
		}
	}
	if c.LabelSmoothing > 0 && c.ClassWeights != "none" {
		return fmt.Errorf("label-smoothing is %g and class-weights %s: choose one of them", c.LabelSmoothing, c.ClassWeights)
	}
	return optional(k.Check, c)
}

// optional is f(c), or zero if the model has no f.
func optional[T any](f func(Config) T, c Config) (value T) {
	if f != nil {
		value = f(c)
	}
	return value
}

// InputGraph is the graph as the model reads it: without directions, unless its setting "undirected" is there and
// false, and without weights if "edge-weights" says so.
func (c Config) InputGraph(g *graphs.Graph) *graphs.Graph {
	if c.EdgeWeights == "ignore" {
		g = g.Unweighted()
	}
	if registry[c.Model].Has("undirected") && !c.Undirected {
		return g
	}
	return g.Undirected()
}

// Pretraining is the number of epochs of pretraining; see [Kind].
func (c Config) Pretraining() int {
	return optional(registry[c.Model].Pretraining, c.Resolved())
}

// Explain says why a computation with the given Output.Stats.Outcome failed, or "".
func (c Config) Explain(outcome int) string {
	if k := registry[c.Model]; k.Explain != nil {
		return k.Explain(c, outcome)
	}
	return ""
}

// Unused lists the arrays that a file of weights may have beside those that the model reads; see [Kind].
func (c Config) Unused() []string {
	return optional(registry[c.Model].Unused, c)
}

// Setting is one setting of a model or of a training. The command line, the files of experiments and the search read
// and set all settings by means of it.
type Setting struct {
	// Name is that of the flag, such as "max-iterations"; [Setting.Key] is that in JSON, "max_iterations".
	Name string
	Help string
	// Least and Most are the smallest and the largest number allowed. If both are zero, all numbers are allowed.
	Least, Most float64
	// Default is the usual default of a shared setting, as text; empty for the zero value.
	Default string
	// OneOf lists the texts that are allowed; empty for all.
	OneOf []string
	// Absent, if not nil, is the value without effect: models without a shared setting accept it, and it is the default
	// of a setting of the training.
	Absent any
	// Reverse marks how far the reverse process goes, such as the number of reverse layers. [Inverter.RoundTrip], which
	// inverts exactly the forward layers, does not use it.
	Reverse bool

	value reflect.Value // the variable: an int, uint64, float64, bool or string
	field []int         // its index in its struct
}

func (s Setting) Key() string { return strings.ReplaceAll(s.Name, "-", "_") }

func (s Setting) Current() any { return s.value.Interface() }

// Parse sets the value from text, as on a command line, or changes nothing.
func (s Setting) Parse(text string) (err error) {
	var v any = text
	switch s.value.Kind() {
	case reflect.Int:
		v, err = strconv.Atoi(text)
	case reflect.Uint64:
		v, err = strconv.ParseUint(text, 10, 64)
	case reflect.Float64:
		v, err = strconv.ParseFloat(text, 64)
	case reflect.Bool:
		v, err = strconv.ParseBool(text)
	}
	if err != nil {
		return fmt.Errorf("%s is %q: it must be %s", s.Name, text, s.kind())
	}
	s.value.Set(reflect.ValueOf(v))
	return nil
}

func (s Setting) Decode(raw json.RawMessage) error {
	if err := json.Unmarshal(raw, s.value.Addr().Interface()); err != nil || string(raw) == "null" {
		return fmt.Errorf("%s is %s: it must be %s", s.Name, raw, s.kind())
	}
	return nil
}

func (s Setting) kind() string {
	switch s.value.Kind() {
	case reflect.Int:
		return "a whole number"
	case reflect.Uint64:
		return "a whole number from 0"
	case reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "true or false"
	}
	return "a text"
}

// Unlimited and Positive stand for no upper limit and for "above 0", within float32, in which training computes.
const Unlimited, Positive = math.MaxFloat32, math.SmallestNonzeroFloat32

// Check says what to choose if the value is not allowed.
func (s Setting) Check() error {
	switch {
	case s.value.Kind() == reflect.Bool:
		return nil
	case s.value.Kind() == reflect.String:
		if text := s.value.String(); len(s.OneOf) > 0 && !slices.Contains(s.OneOf, text) {
			return fmt.Errorf("%s is %q: choose %s", s.Name, text, strings.Join(s.OneOf, " or "))
		}
		return nil
	}
	number := s.value.Convert(reflect.TypeFor[float64]()).Float()
	least, most := s.bounds()
	if math.IsNaN(number) || number < least || number > most {
		return fmt.Errorf("%s is %v: choose %s", s.Name, s.Current(), s.limits())
	}
	return nil
}

func (s Setting) bounds() (least, most float64) {
	least, most = s.Least, s.Most
	if least >= most {
		least, most = -Unlimited, Unlimited
	}
	if s.value.Kind() == reflect.Int {
		least, most = max(least, math.MinInt32), min(most, math.MaxInt32)
	}
	return least, most
}

func (s Setting) limits() string {
	const fits = " that fits float32"
	least, most := s.bounds()
	switch {
	case most < Unlimited:
		return fmt.Sprintf("%s from %s to %s", s.kind(), decimal(least), decimal(most))
	case least == -Unlimited:
		return "a number" + fits
	case least == Positive:
		return "a positive number" + fits
	case least == 0:
		return "zero or a positive number" + fits
	}
	return fmt.Sprintf("%s of at least %s"+fits, s.kind(), decimal(least))
}

// decimal is a number as text, without an exponent if it is whole.
func decimal(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// SettingsOf lists the settings that are the fields of a struct, by their tags. v must be addressable. Embedded structs
// are groups of settings. A tag has help and, where they are needed, name (else the field's name in lower case with
// dashes), least, most ("unlimited", "positive" or a number), oneof, absent, reverse: see [Setting].
func SettingsOf(v reflect.Value) []Setting {
	t := v.Type()
	known, ok := described.Load(t)
	if !ok {
		known, _ = described.LoadOrStore(t, describe(t, nil))
	}
	list := slices.Clone(known.([]Setting))
	for i := range list {
		list[i].value = v.FieldByIndex(list[i].field)
	}
	return list
}

// lists are choices that a tag oneof calls by a name.
var lists = map[string]string{"measures": measures()}

func measures() string {
	names := "auto"
	for _, m := range metrics.Measures {
		names += "," + strings.ReplaceAll(m.Name, "_", "-")
	}
	return names
}

// described has the settings of each type, without values: a search lists them thousands of times.
var described sync.Map

func describe(t reflect.Type, at []int) (list []Setting) {
	for i := range t.NumField() {
		f, field := t.Field(i), append(slices.Clone(at), i)
		if f.Anonymous {
			list = append(list, describe(f.Type, field)...)
			continue
		}
		help, is := f.Tag.Lookup("help")
		if !is {
			continue
		}
		s := Setting{Name: f.Tag.Get("name"), Help: help, Default: f.Tag.Get("default"), Least: limit(f, "least"),
			Most: limit(f, "most"), Reverse: f.Tag.Get("reverse") == "true", field: field}
		if s.Name == "" {
			s.Name = strings.ToLower(capitals.ReplaceAllString(f.Name, "$1-$2"))
		}
		if choices := f.Tag.Get("oneof"); choices != "" {
			s.OneOf = strings.Split(cmp.Or(lists[choices], choices), ",")
			s.Help += ": " + listed(s.OneOf)
		}
		if text, ok := f.Tag.Lookup("absent"); ok {
			absent := s
			absent.value = reflect.New(f.Type).Elem()
			if err := absent.Parse(text); err != nil {
				panic(fmt.Errorf("the tag absent of %s: %w", f.Name, err))
			}
			s.Absent = absent.Current()
		}
		list = append(list, s)
	}
	return list
}

// listed joins choices, as in "euler, rk4 or dopri5".
func listed(choices []string) string {
	last := len(choices) - 1
	return strings.Join(choices[:last], ", ") + " or " + choices[last]
}

var capitals = regexp.MustCompile("([a-z])([A-Z])")

func limit(f reflect.StructField, tag string) float64 {
	switch text := f.Tag.Get(tag); text {
	case "":
		return 0
	case "unlimited":
		return Unlimited
	case "positive":
		return Positive
	default:
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			panic(fmt.Errorf("the tag %s of %s: %w", tag, f.Name, err))
		}
		return v
	}
}

// addressable returns a copy of a struct whose fields can be set.
func addressable(value any) reflect.Value {
	v := reflect.New(reflect.TypeOf(value)).Elem()
	v.Set(reflect.ValueOf(value))
	return v
}

// OwnOf is the model's own settings. It panics for the configuration of another model.
func OwnOf[T any](c Config) T {
	v, ok := c.Own.(T)
	if !ok {
		panic(fmt.Errorf("model %s has settings of the type %T, not %T", c.Model, c.Own, v))
	}
	return v
}

// Settings are those of the model and of its training. They point into a copy: to change one, use [Config.Set].
func (c Config) Settings() []Setting {
	list, _ := c.bound()
	return list
}

// ModelSettings are those of the model alone.
func (c Config) ModelSettings() []Setting {
	list, _ := c.boundModel()
	return list
}

// bound and boundModel are the same, but point into c, apart from the own settings, which keep stores in c.
func (c *Config) bound() (list []Setting, keep func()) {
	list, keep = c.boundModel()
	return append(list, c.training()...), keep
}

func (c *Config) boundModel() (list []Setting, keep func()) {
	k := registry[c.Model]
	for _, s := range c.shared() {
		if k.Has(s.Name) {
			list = append(list, s)
		}
	}
	if c.Own == nil {
		return list, func() {}
	}
	own := addressable(c.Own)
	return append(list, SettingsOf(own)...), func() { c.Own = own.Interface() }
}

// Set parses the value of a setting. A setting that the model lacks is an error, unless the value is the one without
// effect.
func (c *Config) Set(name, text string) error {
	return c.change(name, func(s Setting) error { return s.Parse(text) })
}

// Decode is Set for a value in JSON, whose key is the setting's name with "_".
func (c *Config) Decode(key string, raw json.RawMessage) error {
	return c.change(SettingOf(key), func(s Setting) error { return s.Decode(raw) })
}

// SettingOf is the setting of a key in JSON.
func SettingOf(key string) string { return strings.ReplaceAll(key, "_", "-") }

// Known tells whether any model has a setting with this key.
func Known(key string) bool {
	_, known := find(func(k Kind) bool { return k.knows(SettingOf(key)) })
	return known
}

func (c *Config) change(name string, to func(Setting) error) error {
	list, keep := c.bound()
	if i := indexOf(list, name); i >= 0 {
		defer keep()
		return to(list[i])
	}
	// A shared setting of other models may only get its value without effect.
	others := new(Config).shared()
	if i := indexOf(others, name); i >= 0 {
		if s := others[i]; s.Absent != nil && to(s) == nil && s.Current() == s.Absent {
			return nil
		}
	}
	return c.refuse(name)
}

func indexOf(list []Setting, name string) int {
	return slices.IndexFunc(list, func(s Setting) bool { return s.Name == name })
}

// refuse is the error for a setting that the model lacks; it lists those that there are.
func (c Config) refuse(name string) error {
	k, err := Lookup(c.Model)
	if err != nil {
		return err
	}
	var has []string
	for _, s := range c.ModelSettings() {
		has = append(has, s.Name)
	}
	hint := ""
	if with, ok := k.WithReverse(); ok && with.knows(name) {
		hint = fmt.Sprintf("choose %s, or ", with.Name)
	}
	return fmt.Errorf("model %s has no setting %q: %sleave it out (it has %s)",
		c.Model, name, hint, strings.Join(has, ", "))
}

func (k Kind) knows(name string) bool {
	return Config{Model: k.Name, Own: k.Own}.Value(name) != nil
}

// Value is the value of a setting, or nil if the model lacks it.
func (c Config) Value(name string) any {
	list := c.Settings()
	if i := indexOf(list, name); i >= 0 {
		return list[i].Current()
	}
	return nil
}

// Values has the model's name under "model" and the values of settings by their keys: all of the model's, and those of
// the training but for what is absent.
func (c Config) Values() map[string]any {
	out := map[string]any{"model": c.Model}
	for _, s := range c.ModelSettings() {
		out[s.Key()] = s.Current()
	}
	for _, s := range c.training() {
		if s.Absent == nil || s.Current() != s.Absent {
			out[s.Key()] = s.Current()
		}
	}
	return out
}

func (c Config) MarshalJSON() ([]byte, error) { return json.Marshal(c.Values()) }

// UnmarshalJSON reads what MarshalJSON wrote. Missing settings get the defaults. Settings that only other models have
// are ignored, since old records have them; unknown ones are an error, unless there is no model.
func (c *Config) UnmarshalJSON(b []byte) error {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(b, &values); err != nil {
		return err
	}
	var name string
	if raw, ok := values["model"]; ok {
		if err := json.Unmarshal(raw, &name); err != nil {
			return fmt.Errorf("model is %s: it must be a text", raw)
		}
	}
	*c = Default(name)
	if _, err := Lookup(name); name != "" && err != nil {
		return err
	}
	list, keep := c.bound()
	defer keep()
	for _, key := range slices.Sorted(maps.Keys(values)) {
		switch i := indexOf(list, SettingOf(key)); {
		case i >= 0:
			if err := list[i].Decode(values[key]); err != nil {
				return err
			}
		case name != "" && key != "model" && !Known(key):
			return c.refuse(SettingOf(key))
		}
	}
	return nil
}
