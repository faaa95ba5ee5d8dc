package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var renewReference = flag.Bool("renew", false, "write docs/commands.md anew (make docs)")

// TestReference checks that the page docs/commands.md agrees with the help texts of the commands. With the flag -renew,
// the test first writes this page anew.
func TestReference(t *testing.T) {
	const page = "../../docs/commands.md"
	want := reference((&app{stdout: io.Discard, stderr: io.Discard}).root())
	if *renewReference {
		if err := os.WriteFile(page, want, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(page); err != nil || !bytes.Equal(have, want) {
		t.Errorf("docs/commands.md is not what the commands' help says (%v): run make docs", err)
	}
}

// reference returns a Markdown page that describes all commands and their flags.
func reference(root *cobra.Command) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Command-line reference\n\nMade from the commands' own help by `make docs`.\n\n")
	list := commandsBelow(root)
	fmt.Fprintf(&b, "## Flags of all commands\n\n%s\n\n%s", quoted(root.Long[strings.LastIndex(root.Long, "\n\n"):]),
		table(root.PersistentFlags(), func(*pflag.Flag) bool { return true }))
	common := settingsOf(list)
	fmt.Fprintf(&b, "\n## Settings\n\nFlags of the commands that say so below. The models that a setting is for stand "+
		"in brackets; without them, it is for all.\n\n%s", table(common, func(*pflag.Flag) bool { return true }))
	for _, c := range list {
		help := []string{c.Short + ".", "Usage: " + c.UseLine()}
		if c.Long != "" {
			help[0], _, _ = strings.Cut(strings.TrimSpace(c.Long), modelsHeading) // models.md has a table of them
		}
		if c.Example != "" {
			help = append(help, strings.TrimRight(c.Example, "\n"))
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", c.CommandPath(), quoted(strings.Join(help, "\n")))
		shared := false
		var taken []string // settings of a command for some models alone
		flags := c.LocalNonPersistentFlags()
		c.InheritedFlags().VisitAll(func(f *pflag.Flag) { // from a command above, such as `revgnn runs`
			if root.PersistentFlags().Lookup(f.Name) == nil {
				flags.AddFlag(f)
			}
		})
		own := table(flags, func(f *pflag.Flag) bool {
			all := c.Flags().Lookup("jk") != nil
			if _, setting := f.Value.(*settingValue); setting && !all && means(f) == means(common.Lookup(f.Name)) {
				taken = append(taken, "`--"+f.Name+"`")
				return false
			}
			is := all && same(common.Lookup(f.Name), f)
			shared = shared || is
			return !is
		})
		fmt.Fprintf(&b, "\n%s", own)
		if len(taken) > 0 {
			fmt.Fprintf(&b, "\nBesides, of the [settings](#settings): %s.\n", strings.Join(taken, ", "))
		}
		if shared {
			var without []string
			common.VisitAll(func(f *pflag.Flag) {
				if c.Flags().Lookup(f.Name) == nil {
					without = append(without, "`--"+f.Name+"`")
				}
			})
			text := "Besides, the [settings](#settings)"
			if len(without) > 0 {
				text += ", but for " + strings.Join(without, ", ")
			}
			fmt.Fprintf(&b, "\n%s.\n", text)
		}
	}
	return b.Bytes()
}

// commandsBelow returns the commands below c, ordered by name. It leaves out commands that do nothing themselves, such
// as `revgnn runs`, and cobra's own commands help and completion.
func commandsBelow(c *cobra.Command) (list []*cobra.Command) {
	for _, below := range c.Commands() {
		if !below.IsAvailableCommand() || below.Name() == "help" || below.Name() == "completion" {
			continue
		}
		if below.HasAvailableSubCommands() {
			list = append(list, commandsBelow(below)...)
		} else {
			list = append(list, below)
		}
	}
	slices.SortFunc(list, func(a, b *cobra.Command) int { return strings.Compare(a.CommandPath(), b.CommandPath()) })
	return list
}

// quoted puts a help text into a block of code, so that Markdown shows it without changes.
func quoted(text string) string { return "```text\n" + strings.TrimSpace(text) + "\n```" }

// settingsOf looks at those commands in the list that are for all models, and returns the flags of settings that are the
// same in all of these that have them. A command is for all models if it has the flag --jk, since this is a setting of a
// single model.
func settingsOf(list []*cobra.Command) *pflag.FlagSet {
	common := pflag.NewFlagSet("settings of models", pflag.ContinueOnError)
	var with []*cobra.Command
	for _, c := range list {
		if c.Flags().Lookup("model") != nil && c.Flags().Lookup("jk") != nil {
			with = append(with, c)
		}
	}
	for _, c := range with {
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			_, setting := f.Value.(*settingValue)
			if !setting && f.Name != "dataset" && f.Name != "model" || common.Lookup(f.Name) != nil {
				return
			}
			if !slices.ContainsFunc(with, func(c *cobra.Command) bool {
				other := c.Flags().Lookup(f.Name)
				return other != nil && !same(other, f)
			}) {
				common.AddFlag(f)
			}
		})
	}
	return common
}

// means is a setting's name and help text without the models that it is for, and its first default.
func means(f *pflag.Flag) string {
	if f == nil {
		return ""
	}
	what, _, _ := strings.Cut(f.Usage, " (")
	_, usual, _ := strings.Cut(f.Usage, "(default ")
	return f.Name + what + strings.TrimRight(strings.Split(usual+";", ";")[0], ")")
}

// same tells whether two flags have the same name, help text and default. It returns false if one of them is nil.
func same(a, b *pflag.Flag) bool {
	return a != nil && b != nil && a.Name == b.Name && a.Usage == b.Usage && a.DefValue == b.DefValue
}

// table returns a Markdown table of those flags for which want returns true. If there are none, it returns an empty
// text.
func table(all *pflag.FlagSet, want func(*pflag.Flag) bool) string {
	var b strings.Builder
	inTable := strings.NewReplacer("|", `\|`, "\n", "<br>", "<", "&lt;", ">", "&gt;", "*", `\*`, "_", `\_`)
	all.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" || !want(f) {
			return
		}
		if b.Len() == 0 {
			b.WriteString("| flag | what it is |\n|---|---|\n")
		}
		kind, usage := pflag.UnquoteUsage(f)
		text := inTable.Replace(usage)
		if own := f.DefValue; !strings.Contains(usage, "(default") && own != "" && own != "0" && own != "false" &&
			own != "[]" && own != "0s" {
			text += " (default " + inTable.Replace(own) + ")"
		}
		fmt.Fprintf(&b, "| `--%s` | %s |\n", strings.TrimSpace(f.Name+" "+kind), text)
	})
	return b.String()
}
