package main

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
)

// TestHelpOfAModel checks the help of a command for one model, as in `revgnn train --model glognn --help`. It must show
// all settings of this model and no others, with this model's help texts and defaults.
func TestHelpOfAModel(t *testing.T) {
	all := map[string]bool{}
	for _, model := range models.Names() {
		for _, s := range train.Default(model).Settings() {
			all[s.Name] = true
		}
	}
	for _, model := range []string{"glognn", "lrgnn", "dir-gnn", "sage+rep"} {
		help := succeeds(t, "train", "--model", model, "--help").stdout
		for name := range all {
			line := regexp.MustCompile(`(?m)^ +--` + name + ` .*$`).FindString(help)
			v := train.Default(model).Value(name)
			if (line != "") != (v != nil) {
				t.Errorf("%s: %v, but its help has %q", name, v, line)
			}
			if strings.Contains(line, "(default ") && !strings.HasSuffix(line, fmt.Sprintf("(default %v)", v)) {
				t.Errorf("%s is %v by default in %s, but its help has %q", name, v, model, line)
			}
		}
		for _, s := range train.Default(model).Settings() {
			if !strings.Contains(help, s.Help) {
				t.Errorf("the help of %s lacks %q", model, s.Help)
			}
		}
	}
}

// TestHelpIsGrouped: the help of a command without --model has the settings of the suggested model and no others, and
// says how to see those of another model.
func TestHelpIsGrouped(t *testing.T) {
	help := succeeds(t, "train", "--help").stdout
	for _, want := range []string{"\nFlags:\n      --dataset string", "\nSettings of " + models.Suggested() +
		"; for another model's: revgnn train --model NAME --help\n", "\nFlags of all commands:\n", "\nModels:\n"} {
		if !strings.Contains(help, want) {
			t.Errorf("the help lacks %q", want)
		}
	}
	of := map[string]bool{}
	for _, s := range train.Default(models.Suggested()).Settings() {
		of[s.Name] = true
	}
	others := 0
	for _, model := range models.Names() {
		for _, s := range train.Default(model).Settings() {
			if of[s.Name] || models.Reserved(s.Name) {
				continue
			}
			others++
			if strings.Contains(help, " --"+s.Name+" ") {
				t.Errorf("the help has --%s, a setting of %s", s.Name, model)
			}
		}
	}
	if others == 0 {
		t.Error("no other model has settings of its own")
	}
	if of := succeeds(t, "train", "--model", "glognn", "--help").stdout; strings.Contains(of, "\nModels:\n") {
		t.Error("the help of one model lists all")
	}
}

// TestHelpOfSharedNames checks the descriptions of flags in the reference. Some models use the same name for different
// settings. Each of these settings must be described, with its default.
func TestHelpOfSharedNames(t *testing.T) {
	train, _, err := (&app{stdout: io.Discard, stderr: io.Discard}).root().Find([]string{"train"})
	if err != nil {
		t.Fatal(err)
	}
	help := train.Flags().FlagUsages()
	for _, model := range models.Names() {
		for _, s := range models.Default(model).Settings() {
			if !strings.Contains(help, s.Help) {
				t.Errorf("the help lacks %s of %s: %q", s.Name, model, s.Help)
			}
		}
	}
	for _, want := range []string{"glognn: highest power of the adjacency (default 2)\n",
		" appnp, bernnet, chebnet, gpr-gnn, jacobiconv: degree K of the polynomial of the adjacency " +
			"(default 10; chebnet 1)\n",
		" share of the first embedding in every layer (glognn) (default 0.5)\n"} {
		if !strings.Contains(help, want) {
			t.Errorf("the help lacks %q", want)
		}
	}
}
