//go:build !linux && !darwin

package results

func cpuModel() string { return "" }
