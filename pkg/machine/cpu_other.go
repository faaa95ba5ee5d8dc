//go:build !linux && !darwin

package machine

func CPU() string { return "" }
