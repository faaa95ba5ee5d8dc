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

func (o offer) flag(setting string) string {
	if name, ok := o.flags[setting]; ok {
		return name
	}
	return setting
}

func (o offer) models() (names []string) {
	for _, k := range models.Kinds() {
		if o.of == nil || o.of(k) {
			names = append(names, k.Name)
		}
	}
	return names
}

// configure returns the default configuration of a model for this command.
func (o offer) configure(model string) train.Config {
	c := train.Default(model)
	for _, s := range c.Settings() {
		if text, ok := o.defaults[s.Name]; ok {
			c.Set(s.Name, text)
		}
	}
	return c
}

// about adds --dataset, --model, and a flag for each setting of the models that the command is for.
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

// settingValue is a setting's flag for pflag: it checks the text and keeps it.
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
	if _, err := models.Lookup(s.model); err != nil {
		return train.Config{}, asUsage(err)
	}
	c := s.configure(s.model)
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
	return usagef("no dataset given: add --dataset with one of %s, an .npz file, or a folder",
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

// kinds describes the values of flags by their types, for error messages.
var kinds = map[string]string{"int": "a whole number", "uint64": "a whole number from 0", "float64": "a number",
	"bool": "true or false", "duration": "a time such as 90s or 10m"}

// flagError turns an error of pflag into one of revgnn.
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

func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("'%s' takes no argument such as %q: settings are flags; see '%s --help'",
			c.CommandPath(), args[0], c.CommandPath())
	}
	return nil
}
