//go:build !(linux && cgo)

package enginetest

import (
	"errors"

	"github.com/revgnn/revgnn/pkg/engine"
)

func described() (*engine.Engine, error) {
	return nil, errors.New("GPUs can be described on Linux only")
}
