package main

import (
	"fmt"
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

// TestHelpOfSharedNames checks the help of a command for all models. Some models use the same name for different
// settings. The help must describe each of these settings, with its default.
func TestHelpOfSharedNames(t *testing.T) {
	help := succeeds(t, "train", "--help").stdout
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
