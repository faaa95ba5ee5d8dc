//go:build !(linux && amd64)

package engine

import "errors"

func installCUDA(string) error { return errors.New("there is one for Linux on x86-64 only") }
