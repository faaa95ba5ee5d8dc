package engine

import "github.com/gomlx/compute"

// Plain returns the engine's backend without the workarounds of this package: the backend that is wrapped in the
// engine's [nested] backend.
func Plain(e *Engine) compute.Backend { return e.Backend.(*nested).Backend }
