package main

import (
	"flag"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/train"
)

func TestRooflineFlags(t *testing.T) {
	list := all(t)
	for _, c := range []struct {
		args string
		want func(*Case)
	}{
		{"", func(c *Case) {}},
		{"-case gcn-minesweeper-1-64-64 -reverse 256", func(c *Case) {
			c.Name, c.Dataset = "gcn-minesweeper-1-64-64", "minesweeper"
			c.Config.Hidden, c.Config.Reverse, c.Config.Lipschitz = 64, 256, 0.25
		}},
		{"-dataset random:500 -lipschitz 0.5", func(c *Case) { c.Dataset, c.Config.Lipschitz = "random:500", 0.5 }},
		{"-model gcn -forward 3", func(c *Case) {
			c.Config = train.Default("gcn")
			c.Config.Forward, c.Config.Hidden = 3, 256
		}},
		{"-model gcn -reverse 3", nil},
		{"-case nothing", nil},
	} {
		var l limitFlags
		f := flag.NewFlagSet("bench", flag.ContinueOnError)
		if err := l.add(f, list); err != nil {
			t.Fatal(err)
		}
		if err := f.Parse(strings.Fields(c.args)); err != nil {
			t.Fatal(err)
		}
		got, err := named(list, l.name)
		if err == nil {
			got, err = l.change(got)
		}
		if c.want == nil {
			if err == nil {
				t.Errorf("%q was accepted", c.args)
			}
			continue
		}
		want, _ := named(list, "gcn-chameleon-1-64-256")
		c.want(&want)
		want.Config.Epochs = limitSteps
		got.Name, got.Authors, got.Quick = want.Name, want.Authors, want.Quick
		if err != nil || got != want {
			t.Errorf("%q gives %+v, want %+v: %v", c.args, got, want, err)
		}
	}
}
