package main

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
)

// subject is what most commands are about: a dataset and a model with its settings.
type subject struct {
	dataset, model string
	command        *cobra.Command
	offer
}

// offer says which settings a command takes as flags.
type offer struct {
	// takes tells whether a setting is offered; nil: all are.
	takes func(models.Setting) bool
	// of tells which models the command is for; nil: all.
	of func(models.Kind) bool
	// refuse, if not nil, says why the command is not for a model.
	refuse func(train.Config) error
	// flags are names of flags that differ from their settings'.
	flags map[string]string
	// helps are what the command says of settings, where that is not what the models say.
	helps map[string]string
	// defaults of the command, by setting, where they differ from the models'.
	defaults map[string]string
}

// flag is the name of a setting's flag.
func (o offer) flag(setting string) string {
	if name, ok := o.flags[setting]; ok {
		return name
	}
	return setting
}

// models are the names of those that the command is for.
func (o offer) models() (names []string) {
	for _, k := range models.Kinds() {
		if o.of == nil || o.of(k) {
			names = append(names, k.Name)
		}
	}
	return names
}

// configure is a model's default configuration with the command's own defaults.
func (o offer) configure(model string) train.Config {
	c := train.Default(model)
	for _, s := range c.Settings() {
		if text, ok := o.defaults[s.Name]; ok {
			c.Set(s.Name, text)
		}
	}
	return c
}

// about adds --dataset, --model and the settings of all models to a command.
func about(c *cobra.Command, o offer) *subject {
	s := &subject{command: c, offer: o}
	f := c.Flags()
	f.StringVar(&s.dataset, "dataset", "", "dataset: "+strings.Join(datasets.Names(), ", ")+
		", an .npz file, or a folder with edges.csv and nodes.csv")
	f.StringVar(&s.model, "model", models.Suggested(), "model: "+strings.Join(o.models(), ", "))
	for _, setting := range o.settings() {
		setting.add(f, o.models())
	}
	f.SortFlags = false
	return s
}

// offered is a setting as a flag.
type offered struct {
	models.Setting
	flag string
	// help, if not empty, is what the command says of it.
	help string
	// of are the models that have it, and defaults what it is in each of them unless it is given.
	of       []string
	defaults map[string]any
}

// settings lists what the models' settings come to as flags: those of the suggested model first, whose
// defaults are the usual ones.
func (o offer) settings() (list []offered) {
	for _, model := range append([]string{models.Suggested()}, o.models()...) {
		for _, s := range o.configure(model).Settings() {
			if o.takes != nil && !o.takes(s) {
				continue
			}
			i := slices.IndexFunc(list, func(known offered) bool { return known.Name == s.Name })
			if i < 0 {
				i, list = len(list), append(list,
					offered{Setting: s, flag: o.flag(s.Name), help: o.helps[s.Name],
						defaults: map[string]any{}})
			}
			if _, known := list[i].defaults[model]; !known {
				list[i].of, list[i].defaults[model] = append(list[i].of, model), s.Current()
			}
		}
	}
	return list
}

// add adds the flag.
func (s offered) add(f *pflag.FlagSet, models []string) {
	help := s.Help
	if s.help != "" {
		help = s.help
	}
	if len(s.OneOf) > 0 && !strings.Contains(help, s.OneOf[0]) {
		help += ": " + strings.Join(s.OneOf, ", ")
	}
	if len(s.of) < len(models) {
		help += " (" + strings.Join(s.of, ", ") + ")"
	}
	value := f.VarPF(&settingValue{Setting: s.Setting}, s.flag, "", help+s.usual())
	if _, is := s.Current().(bool); is {
		value.NoOptDefVal = "true"
	}
}

// usual says what the setting is unless it is given, where that is more than nothing: for most models,
// and for those that differ.
func (s offered) usual() string {
	common := s.defaults[s.of[0]]
	text := fmt.Sprintf("default %v", common)
	differs := false
	for _, model := range s.of {
		if v := s.defaults[model]; v != common {
			text += fmt.Sprintf("; %s %v", model, v)
			differs = true
		}
	}
	if !differs && reflect.ValueOf(common).IsZero() {
		return ""
	}
	return " (" + text + ")"
}

// settingValue is the value of a setting's flag: the text that was given, if the setting can have it.
type settingValue struct {
	models.Setting
	text string
}

func (v *settingValue) String() string { return v.text }

func (v *settingValue) Set(text string) error {
	v.text = text
	return v.Parse(text)
}

// Type is the type's name in Go, which pflag and kinds know.
func (v *settingValue) Type() string { return fmt.Sprintf("%T", v.Current()) }

// config is the model's default with those settings that were given; a setting that the model
// does not have is wrong usage.
func (s *subject) config() (train.Config, error) {
	if s.dataset == "" {
		return train.Config{}, usagef("no dataset given: add --dataset with one of %s, an .npz file, or a folder",
			strings.Join(datasets.Names(), ", "))
	}
	if _, err := models.Lookup(s.model); err != nil {
		return train.Config{}, asUsage(err)
	}
	c := s.configure(s.model)
	if s.refuse != nil {
		if err := s.refuse(c); err != nil {
			return c, asUsage(err)
		}
	}
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

// byFlags has an error speak of flags where it speaks of settings that have flags of other names.
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

// kinds says what a flag of a type wants.
var kinds = map[string]string{"int": "a whole number", "uint64": "a whole number from 0", "float64": "a number",
	"bool": "true or false", "duration": "a time such as 90s or 10m"}

// flagError makes a sentence of what pflag has to say.
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
		text = fmt.Sprintf("%s has no flag %s", c.CommandPath(), dashed(unknown.GetSpecifiedName()))
	case errors.As(err, &missing):
		text = fmt.Sprintf("--%s needs a value", missing.GetFlag().Name)
	case errors.As(err, &wrong):
		text = fmt.Sprintf("--%s is %q: it must be %s", wrong.GetFlag().Name, wrong.GetValue(),
			kinds[wrong.GetFlag().Value.Type()])
	}
	return usagef("%s; %s", text, see)
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// noArguments refuses arguments that are no flags.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("'%s' takes no argument such as %q: settings are flags; see '%s --help'",
			c.CommandPath(), args[0], c.CommandPath())
	}
	return nil
}
