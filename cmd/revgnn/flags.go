package main

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
)

// subject holds the flags of a command that is about a dataset, a model and its settings.
type subject struct {
	dataset, model string
	command        *cobra.Command
	offer
}

// offer says which models a command is for, and which of their settings are flags.
type offer struct {
	// takes tells whether the command takes a setting as a flag; nil stands for all.
	takes func(models.Setting) bool
	// of tells whether the command is for a model; nil stands for all.
	of func(models.Kind) bool
	// refuse, if not nil, says why the command cannot work with a configuration.
	refuse func(train.Config) error
	// By the names of settings: other names of flags, other help texts, and other defaults.
	flags    map[string]string
	helps    map[string]string
	defaults map[string]string
}

func (o offer) models() (names []string) {
	for _, k := range models.Kinds() {
		if o.of == nil || o.of(k) {
			names = append(names, k.Name)
		}
	}
	return names
}

func (o offer) configure(model string) train.Config {
	c := train.Default(model)
	for name, text := range o.defaults {
		c.Set(name, text) // does nothing if the model lacks the setting
	}
	return c
}

// about adds --dataset, --model, and a flag for each setting of the models that the command is for.
func about(c *cobra.Command, o offer) *subject {
	s := &subject{command: c, offer: o}
	f := c.Flags()
	f.StringVar(&s.dataset, "dataset", "", "dataset: "+strings.Join(datasets.Names(), ", ")+
		", an .npz or .json file, or a folder with edges.csv and nodes.csv; cora"+data.Balanced+" to photo"+data.Balanced+
		" have class-balanced splits")
	f.StringVar(&s.model, "model", models.Suggested(), "model (with --help: shows its settings): "+
		strings.Join(o.models(), ", "))
	for _, setting := range o.settings() {
		value := f.VarPF(&settingValue{Setting: setting.Setting}, setting.flag, "",
			setting.usage(setting.of, o.models()))
		if _, is := setting.Current().(bool); is {
			value.NoOptDefVal = "true"
		}
	}
	f.SortFlags = false
	c.SetHelpFunc(func(c *cobra.Command, _ []string) { s.help(c) })
	return s
}

type settingValue struct {
	models.Setting
	text string
}

func (v *settingValue) String() string { return v.text }

func (v *settingValue) Set(text string) error {
	v.text = text
	return v.Parse(text)
}

func (v *settingValue) Type() string { return fmt.Sprintf("%T", v.Current()) }

// config returns the configuration that the flags describe. A setting that the model does not have is wrong usage.
func (s *subject) config() (train.Config, error) {
	if s.dataset == "" {
		return train.Config{}, noDataset()
	}
	k, err := models.Lookup(s.model)
	if err != nil {
		return train.Config{}, asUsage(err)
	}
	c := s.configure(k.Name)
	if s.refuse != nil {
		if err := s.refuse(c); err != nil {
			return c, asUsage(err)
		}
	}
	return s.changed(c)
}

// changed returns c, changed by the settings that were given as flags.
func (s *subject) changed(c train.Config) (train.Config, error) {
	var err error
	for _, setting := range s.settings() {
		if f := s.command.Flags().Lookup(setting.flag); f.Changed && err == nil {
			err = c.Set(setting.Name, f.Value.String())
		}
	}
	if err == nil {
		err = c.Validate()
	}
	return c, asUsage(s.byFlags(err))
}

func noDataset() error {
	return usagef("no dataset given: add --dataset with one of %s, an .npz or .json file, or a folder",
		strings.Join(datasets.Names(), ", "))
}

// byFlags names settings by their flags in an error message.
func (o offer) byFlags(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for setting, flag := range o.flags {
		text = strings.ReplaceAll(text, strconv.Quote(setting), strconv.Quote(flag))
		if rest, is := strings.CutPrefix(text, setting+" "); is {
			text = flag + " " + rest
		}
	}
	return errors.New(text)
}

var kinds = map[string]string{"int": "a whole number", "uint64": "a whole number from 0", "float64": "a number",
	"bool": "true or false", "duration": "a time such as 90s or 10m"}

func flagError(c *cobra.Command, err error) error {
	var (
		unknown *pflag.NotExistError
		missing *pflag.ValueRequiredError
		wrong   *pflag.InvalidValueError
		see     = fmt.Sprintf("see '%s --help'", c.CommandPath())
		text    = err.Error()
	)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return err
	case errors.As(err, &unknown):
		dashes := "--"
		if len(unknown.GetSpecifiedName()) == 1 {
			dashes = "-"
		}
		text = fmt.Sprintf("%s has no flag %s%s", c.CommandPath(), dashes, unknown.GetSpecifiedName())
	case errors.As(err, &missing):
		text = fmt.Sprintf("--%s needs a value", missing.GetFlag().Name)
	case errors.As(err, &wrong):
		text = fmt.Sprintf("--%s is %q: it must be %s", wrong.GetFlag().Name, wrong.GetValue(),
			kinds[wrong.GetFlag().Value.Type()])
	}
	return usagef("%s; %s", text, see)
}

func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("'%s' takes no argument such as %q: settings are flags; see '%s --help'",
			c.CommandPath(), args[0], c.CommandPath())
	}
	return nil
}

// offered is the flag for a setting. Models may use the same name for different settings.
type offered struct {
	// Setting is that of the first model that has it. The type of its value is the same in all models.
	models.Setting
	flag string
	help string
	// of lists the models that have the setting, and as has the setting of each.
	of []string
	as map[string]models.Setting
}

// settings lists the flags for the settings of all models that the command is for, one for each name, and those of the
// suggested model first.
func (o offer) settings() (list []offered) {
	for _, model := range append([]string{models.Suggested()}, o.models()...) {
		for _, s := range o.configure(model).Settings() {
			if o.takes != nil && !o.takes(s) {
				continue
			}
			i := slices.IndexFunc(list, func(known offered) bool { return known.Name == s.Name })
			if i < 0 {
				i, list = len(list), append(list, offered{Setting: s, flag: cmp.Or(o.flags[s.Name], s.Name),
					help: o.helps[s.Name], as: map[string]models.Setting{}})
			}
			if _, known := list[i].as[model]; !known {
				list[i].of, list[i].as[model] = append(list[i].of, model), s
			}
		}
	}
	return list
}

// usage returns what the setting does in the models that are named first, its default, and their names, unless they are
// all models. If models use the name for different settings, there is a line for each of these.
func (s offered) usage(of, models []string) string {
	var texts []string
	by := map[string][]string{}
	for _, model := range of {
		as := s.as[model]
		text := cmp.Or(s.help, as.Help)
		if len(as.OneOf) > 0 && !strings.Contains(text, as.OneOf[0]) {
			text += ": " + strings.Join(as.OneOf, ", ")
		}
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
		by[text] = append(by[text], model)
	}
	if len(texts) > 1 {
		for i, text := range texts {
			texts[i] = strings.Join(by[text], ", ") + ": " + text + s.usual(by[text])
		}
		return strings.Join(texts, "\n")
	}
	if len(of) < len(models) {
		texts[0] += " (" + strings.Join(of, ", ") + ")"
	}
	return texts[0] + s.usual(of)
}

// usual returns the defaults of the setting, such as " (default 10; chebnet 1)": that of the first model, and others.
// It is empty if all are 0, false or "".
func (s offered) usual(of []string) string {
	common := s.as[of[0]].Current()
	text := fmt.Sprintf("default %v", common)
	differs := false
	for _, model := range of {
		if v := s.as[model].Current(); v != common {
			text += fmt.Sprintf("; %s %v", model, v)
			differs = true
		}
	}
	if !differs && reflect.ValueOf(common).IsZero() {
		return ""
	}
	return " (" + text + ")"
}

// help writes the help of a command: its own flags, the settings of the model of --model, or else of the suggested one,
// and the flags of all commands.
func (s *subject) help(c *cobra.Command) {
	model, long := s.model, c.Long
	if k, err := models.Lookup(model); err == nil {
		model = k.Name
	}
	switch {
	case !slices.Contains(s.models(), model):
		model = models.Suggested()
	case c.Flags().Changed("model"):
		long, _, _ = strings.Cut(long, modelsHeading)
	}
	own, settings := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	own.SortFlags, settings.SortFlags = false, false
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if _, is := f.Value.(*settingValue); !is && c.InheritedFlags().Lookup(f.Name) == nil {
			own.AddFlag(f)
		}
	})
	for _, setting := range s.settings() {
		if _, has := setting.as[model]; has {
			f := *c.Flags().Lookup(setting.flag)
			f.Usage = setting.usage([]string{model}, []string{model})
			settings.AddFlag(&f)
		}
	}
	example := ""
	if c.Example != "" {
		example = "\n\nExamples:\n" + c.Example
	}
	fmt.Fprintf(c.OutOrStdout(), "%s\n\nUsage:\n  %s%s\n\nFlags:\n%s\n"+
		"Settings of %s; for another model's: %s --model NAME --help\n%s\nFlags of all commands:\n%s",
		strings.TrimSpace(cmp.Or(long, c.Short+".")), c.UseLine(), example, own.FlagUsages(), model, c.CommandPath(),
		settings.FlagUsages(), c.InheritedFlags().FlagUsages())
}

// modelsHeading is before the list of models in a help text.
const modelsHeading = "\n\nModels:\n"
