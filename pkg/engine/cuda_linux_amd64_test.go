package engine

import "testing"

func TestParseDriver(t *testing.T) {
	for text, want := range map[string]int{
		"NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024\n" +
			"GCC version:  gcc 12": 535,
		"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.82.07  Release Build  (dvs-builder)  " +
			"Wed Aug 27 16:04 2025": 580,
		"": 0,
	} {
		if got := parseDriver(text); got != want {
			t.Errorf("driver %d in %q, want %d", got, text, want)
		}
	}
}
