package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/revgnn/revgnn/pkg/models"
)

// offered is a setting as a flag. Models may mean different things by one name: the flag says each.
type offered struct {
	// Setting is that of the first model that has it; its type is the same in all.
	models.Setting
	flag string
	// help, if not empty, is what the command says of it.
	help string
	// of are the models that have it, and as is what it is in each of them, with its default.
	of []string
	as map[string]models.Setting
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

// add adds the flag to those of a command for models.
func (s offered) add(f *pflag.FlagSet, models []string) {
	value := f.VarPF(&settingValue{Setting: s.Setting}, s.flag, "", s.usage(models))
	if _, is := s.Current().(bool); is {
		value.NoOptDefVal = "true"
	}
}

// usage says what the setting is, in which of the models unless in all, and its defaults: in a line or, where models
// mean different things by it, in a line for each meaning.
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

// says is what the setting is in a model.
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

// usual says what the setting is in models unless it is given, where that is more than nothing: in the first of them,
// and in those that differ.
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

// narrowHelp has the help of a command whose model was chosen show that model's settings alone, as they are in it.
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
