package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/revgnn/revgnn/pkg/models"
)

// offered is the flag for a setting. Some models use the same name for different settings. The help of the flag then
// describes each of these settings.
type offered struct {
	// Setting is the setting in the first model that has it. The type of its value is the same in all models.
	models.Setting
	flag string
	// help is the command's own help text for the setting. If it is empty, the help texts of the models are used.
	help string
	// of lists the models that have the setting. The map `as` has the setting as it is in each of these models, with
	// this model's help text and default. Its keys are the names of the models.
	of []string
	as map[string]models.Setting
}

// settings lists the flags for the settings of all models that the command is for. There is one flag for each name of a
// setting. The settings of the suggested model ([models.Suggested]) come first. The help shows the defaults of this
// model, and then those of the models with other defaults.
func (o offer) settings() (list []offered) {
	for _, model := range append([]string{models.Suggested()}, o.models()...) {
		for _, s := range o.configure(model).Settings() {
			if o.takes != nil && !o.takes(s) {
				continue
			}
			i := slices.IndexFunc(list, func(known offered) bool { return known.Name == s.Name })
			if i < 0 {
				i, list = len(list), append(list, offered{Setting: s, flag: o.flag(s.Name), help: o.helps[s.Name],
					as: map[string]models.Setting{}})
			}
			if _, known := list[i].as[model]; !known {
				list[i].of, list[i].as[model] = append(list[i].of, model), s
			}
		}
	}
	return list
}

// add adds the flag to the flags f of a command. The argument models lists all models that the command is for.
func (s offered) add(f *pflag.FlagSet, models []string) {
	value := f.VarPF(&settingValue{Setting: s.Setting}, s.flag, "", s.usage(models))
	if _, is := s.Current().(bool); is {
		value.NoOptDefVal = "true"
	}
}

// usage returns the help text of the flag. The text says what the setting does, what its default is, and which of the
// given models have it, unless all have it. If models use the name for different settings, the text has one line for
// each of these settings.
func (s offered) usage(models []string) string {
	var texts []string
	of := map[string][]string{}
	for _, model := range s.of {
		text := s.says(model)
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
		of[text] = append(of[text], model)
	}
	if len(texts) > 1 {
		for i, text := range texts {
			texts[i] = strings.Join(of[text], ", ") + ": " + text + s.usual(of[text])
		}
		return strings.Join(texts, "\n")
	}
	if len(s.of) < len(models) {
		texts[0] += " (" + strings.Join(s.of, ", ") + ")"
	}
	return texts[0] + s.usual(s.of)
}

// says returns the help text for the setting in one model, without the default.
func (s offered) says(model string) string {
	as, help := s.as[model], s.help
	if help == "" {
		help = as.Help
	}
	if len(as.OneOf) > 0 && !strings.Contains(help, as.OneOf[0]) {
		help += ": " + strings.Join(as.OneOf, ", ")
	}
	return help
}

// usual returns a text with the default of the setting, such as " (default 10; chebnet 1)". The argument `of` lists the
// models that the text is about. The first number is the default of the first model. The models with other defaults
// follow. The text is empty if the default is 0, false or an empty text in all of these models.
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

// narrowHelp changes the help of a command for which the flag --model is given. The help then shows only the settings
// of this model, with this model's help texts and defaults.
func (s *subject) narrowHelp() {
	if !s.command.Flags().Changed("model") || !slices.Contains(s.models(), s.model) {
		return
	}
	for _, setting := range s.settings() {
		f := s.command.Flags().Lookup(setting.flag)
		if _, has := setting.as[s.model]; !has {
			f.Hidden = true
			continue
		}
		setting.of = []string{s.model}
		f.Usage = setting.usage(setting.of)
	}
}
