package report

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"math"
	"strings"
)

//go:embed slider.js
var sliderJS string

// Frame is what a [Slider] shows at one position.
type Frame struct {
	Name   string  // for example "reverse layer 12"
	Panels []Panel // with the same titles and marks in all frames
}

// Slider draws maps as [Board] does, and a slider below that selects a frame, for example a layer; start is the first
// that is shown. The static picture shows at most seven frames. On a web page values are rounded to the 255 steps of
// the scale.
func Slider(id, title, valueName string, rows, cols int, frames []Frame, start int) *Figure {
	s := &slider{frames: frames, start: start}
	if err := s.check(); err != nil {
		return &Figure{ID: id, Title: title, err: err}
	}
	s.still = &board{title: title, valueName: valueName, rows: rows, cols: cols}
	s.live = &board{title: title, valueName: valueName, rows: rows, cols: cols, axes: true,
		strips: []Strip{{Panels: frames[start].Panels}}}
	var all []Strip
	for _, f := range frames {
		all = append(all, Strip{Panels: f.Panels})
	}
	for i, p := range frames[0].Panels {
		strip := Strip{Title: p.Title}
		for _, k := range s.chosen() {
			panel := frames[k].Panels[i]
			panel.Title = frames[k].Name
			strip.Panels = append(strip.Panels, panel)
		}
		s.still.strips = append(s.still.strips, strip)
	}
	// All frames are checked, also those that the static picture leaves out.
	if err := (&board{rows: rows, cols: cols, strips: all, axes: true}).check(); err != nil {
		return &Figure{ID: id, Title: title, err: err}
	}
	low, high := bounds(all)
	s.live.low, s.live.high, s.still.low, s.still.high = low, high, low, high
	live, f := s.live.figure(id), s.still.figure(id)
	f.chart, f.liveWidth, f.liveHeight = s, live.Width, live.Height
	return f
}

type slider struct {
	frames []Frame
	start  int

	live  *board // the interactive chart; its maps are those of the frame that is shown first
	still *board // the static picture
}

func (s *slider) check() error {
	if len(s.frames) == 0 {
		return fmt.Errorf("no frames to slide through: give at least one Frame")
	}
	if s.start < 0 || s.start >= len(s.frames) {
		return fmt.Errorf("it is to start at frame %d of %d: give 0 to %d", s.start, len(s.frames), len(s.frames)-1)
	}
	for _, f := range s.frames {
		if len(f.Panels) != len(s.frames[0].Panels) {
			return fmt.Errorf("frame %q has %d panels and frame %q has %d: give all frames the same",
				f.Name, len(f.Panels), s.frames[0].Name, len(s.frames[0].Panels))
		}
	}
	return nil
}

// chosen are the frames of the static picture: first, start, last, and others evenly between.
func (s *slider) chosen() []int {
	const most = 7
	last := len(s.frames) - 1
	if last < most {
		return count(last + 1)
	}
	before := 0 // number of chosen frames whose index is below s.start
	if s.start > 0 {
		before = max(1, min(most-2, (most-1)*s.start/last))
	}
	if s.start == last {
		before = most - 1
	}
	var chosen []int
	for i := range before {
		chosen = append(chosen, s.start*i/before)
	}
	after := most - 1 - before
	for i := range after + 1 {
		chosen = append(chosen, s.start+(last-s.start)*i/max(1, after))
	}
	return chosen
}

func (s *slider) option() map[string]any { return s.live.option() }

func (s *slider) compact() (map[string]any, string) {
	option := s.live.frame(empty)
	names, cells := make([]string, len(s.frames)), make([][]string, len(s.frames))
	for k, f := range s.frames {
		names[k] = f.Name
		for _, p := range f.Panels {
			cells[k] = append(cells[k], s.live.packed(p.Values))
		}
	}
	option["frames"] = map[string]any{"names": names, "cells": cells, "start": s.start,
		"cols": s.live.cols, "low": s.live.low, "high": s.live.high, "left": s.live.start}
	return option, strings.TrimSpace(strings.Replace(sliderJS, "/* tooltip */", boardTooltip, 1))
}

// packed is the values as bytes in base64: places on the scale from 0 to 254, or 255 if missing.
func (b *board) packed(values []float64) string {
	bytes := make([]byte, len(values))
	for i, v := range values {
		bytes[i] = 255
		if significant(v, 3) != nil {
			bytes[i] = byte(math.Round(254 * (v - b.low) / (b.high - b.low)))
		}
	}
	return base64.StdEncoding.EncodeToString(bytes)
}

func (s *slider) static() (map[string]any, string, error) { return s.still.static() }

// numbers has the cells of all frames; the column strip names the frame.
func (s *slider) numbers() [][]string {
	all := *s.live
	all.strips = nil
	for _, f := range s.frames {
		all.strips = append(all.strips, Strip{Title: f.Name, Panels: f.Panels})
	}
	return all.numbers()
}
