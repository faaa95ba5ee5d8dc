package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/revgnn/revgnn/pkg/doctor"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/machine"
)

func (a *app) doctor() *cobra.Command {
	return &cobra.Command{Use: "doctor", Short: "Say what this machine has: engine, data, kernel, GPU, memory",
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			r := doctor.Examine(a.engineName, a.data)
			err := a.show(struct {
				Revgnn string `json:"revgnn"`
				*doctor.Report
			}{versionText(), r}, func(w io.Writer) { doctorTable(w, r) })
			if err == nil && r.Error != "" {
				err = errors.New(r.Error)
			}
			return err
		}}
}

func doctorTable(w io.Writer, r *doctor.Report) {
	yes := map[bool]string{true: "NVIDIA", false: "none"}
	var plugins []string
	for _, kind := range slices.Sorted(maps.Keys(r.Plugins)) {
		plugins = append(plugins, kind+": "+r.Plugins[kind])
	}
	for _, line := range [][2]string{
		{"revgnn", versionText()},
		{"engine", cmp.Or(r.Engine, "none")},
		{"  why", cmp.Or(r.Why, r.Error)},
		{"  plugin", cmp.Or(r.Plugin, "none needed")},
		{"  version", cmp.Or(r.Version, "-")},
		{"plugins", cmp.Or(strings.Join(plugins, ", "), "none; 'revgnn install-plugin' installs one")},
		{"data directory", r.Data},
		{"datasets there", cmp.Or(strings.Join(r.Datasets, ", "), "none")},
		{"notebook kernel", cmp.Or(r.Kernel, "none; 'make lab' installs it")},
		{"GPU", yes[r.GPU]},
		{"cores", fmt.Sprint(r.Cores)},
		{"threads", cmp.Or(strings.TrimPrefix(fmt.Sprint(r.Threads), "0"), "as the engine likes; they change no number")},
		{"memory", fmt.Sprintf("%s, %s free", machine.Bytes(r.Memory), machine.Bytes(r.FreeMemory))},
		{"platform", r.Platform + ", " + r.Go},
	} {
		fmt.Fprintf(w, "%s\t%s\n", line[0], line[1])
	}
}

func (a *app) version() *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Print the version", Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			v := struct {
				Version  string `json:"version"`
				Go       string `json:"go"`
				Platform string `json:"platform"`
			}{versionText(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			return a.show(v, func(w io.Writer) { fmt.Fprint(w, versionLine()) })
		}}
}

// versionLine is what `revgnn version` and `revgnn --version` print.
func versionLine() string {
	return fmt.Sprintf("revgnn %s (%s, %s/%s)\n", versionText(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func (a *app) installPlugin() *cobra.Command {
	return &cobra.Command{Use: "install-plugin [cpu|cuda]",
		Short: "Install the XLA plugin that computes fast on this CPU (the default) or on an NVIDIA GPU",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 1 && args[0] != "cpu" && args[0] != "cuda" {
				return usagef("unknown plugin %q: choose cpu or cuda", strings.Join(args, " "))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			kind := "cpu"
			if len(args) == 1 {
				kind = args[0]
			}
			if a.data.Offline && engine.Plugins()[kind] == "" {
				return cmp.Or(engine.Damaged(), fmt.Errorf("the %s plugin is not installed and offline mode forbids the "+
					"download; go online, or copy it into a folder named by PJRT_PLUGIN_LIBRARY_PATH", kind))
			}
			p := a.progress()
			path, err := engine.Install(c.Context(), kind, func(line string) { p.line("%s", line) })
			if err != nil {
				return err
			}
			return a.show(map[string]string{"plugin": kind, "path": path}, func(w io.Writer) { fmt.Fprintln(w, path) })
		}}
}
