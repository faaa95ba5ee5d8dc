//go:build !(linux && amd64)

package engine

import (
	"context"
	"errors"
)

func installCUDA(context.Context, string, string, func(string)) error {
	return errors.New("there is one for Linux on x86-64 only")
}
