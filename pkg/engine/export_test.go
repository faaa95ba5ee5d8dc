package engine

import "github.com/gomlx/compute"

// Plain is the backend inside, without this package's workarounds.
func Plain(e *Engine) compute.Backend { return e.Backend.(*nested).Backend }
