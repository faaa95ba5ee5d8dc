package engine

import "github.com/gomlx/compute"

// Plain is the engine's backend without this package's workarounds: the backend inside the [nested] one.
func Plain(e *Engine) compute.Backend { return e.Backend.(*nested).Backend }
