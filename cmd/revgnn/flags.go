package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/revgnn/revgnn/data"
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
		", an .npz file, or a folder with edges.csv and nodes.csv; cora"+data.Balanced+" to photo"+data.Balanced+
		" have class-balanced splits")
	f.StringVar(&s.model, "model", models.Suggested(), "model (with --help: shows its settings alone): "+
		strings.Join(o.models(), ", "))
	for _, setting := range o.settings() {
		setting.add(f, o.models())
	}
	f.SortFlags = false
	c.SetHelpFunc(func(c *cobra.Command, args []string) {
		s.narrowHelp()
		c.Root().HelpFunc()(c, args)
	})
	return s
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
		return train.Config{}, noDataset()
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

func noDataset() error {
	return usagef("no dataset given: add --dataset with one of %s, an .npz file, or a folder",
		strings.Join(datasets.Names(), ", "))
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
