//go:build !linux && !darwin

package machine

// CPU and Processor are not known on this system.
func CPU() string                                 { return "" }
func Processor() (family, model, features string) { return "", "", "" }
