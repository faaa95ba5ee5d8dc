package main

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
)

// TestImpossibleNumbers gives impossible numbers to every setting of every model: as the text of a flag, and as JSON.
// Each number must be refused, or be one that training can compute with.
func TestImpossibleNumbers(t *testing.T) {
	texts := []string{"NaN", "-NaN", "Inf", "-Inf", "-1", "-0.5", "1e300", "1e-300", "1e999", "-1e9",
		"9223372036854775807", "-9223372036854775808", "1e15", "0x10", "", "ten", "null"}
	for _, model := range models.Names() {
		for _, s := range train.Default(model).Settings() {
			for _, text := range texts {
				for how, set := range map[string]func(c *train.Config) error{
					"flag": func(c *train.Config) error { return c.Set(s.Name, text) },
					"JSON": func(c *train.Config) error { return c.Decode(s.Key(), []byte(text)) },
				} {
					c := train.Default(model)
					if err := set(&c); err != nil {
						continue
					}
					if err := c.Validate(); err != nil {
						if !strings.Contains(err.Error(), s.Name) {
							t.Errorf("%s, %s %s %q: the error does not name it: %v", model, how, s.Name, text, err)
						}
						continue
					}
					if !possible(c.Value(s.Name)) {
						t.Errorf("%s, %s %s: %q is accepted as %v", model, how, s.Name, text, c.Value(s.Name))
					}
				}
			}
		}
	}
}

// possible tells whether training can compute with the value of a setting: whether a number is finite in single
// precision, and whether a whole number is not negative and not too large.
func possible(v any) bool {
	switch v := v.(type) {
	case int:
		return v >= 0 && v <= 1<<31
	case float64:
		return !math.IsNaN(v) && math.Abs(v) <= math.MaxFloat32
	}
	return true
}

// TestImpossibleFlags gives impossible numbers to flags of commands and to the parameters of a generated graph. All of
// them must be refused as wrong usage.
func TestImpossibleFlags(t *testing.T) {
	bad := []string{"NaN", "-1", "1e9", "99999999999999999999", "", "0.5"}
	for _, text := range bad {
		for _, args := range [][]string{
			{"bench", "--dataset", tinyGraph, "--epochs", text},
			{"train", "--dataset", tinyGraph, "--splits", "0," + text},
			{"train", "--dataset", tinyGraph, "--epochs", text},
		} {
			fails(t, 2, "", args...)
		}
		fails(t, 2, "", "datasets", "stats", fmt.Sprintf("minesweeper-generated:rows=%s", text))
	}
	for _, text := range []string{"NaN", "-0.1", "1.1", "Inf"} {
		fails(t, 2, "", "datasets", "stats", fmt.Sprintf("minesweeper-generated:mines=%s", text))
	}
}
