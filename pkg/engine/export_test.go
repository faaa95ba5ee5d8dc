package engine

import "github.com/gomlx/compute"

// Plain is the backend without what package engine works around.
func Plain(e *Engine) compute.Backend { return e.Backend.(*nested).Backend }
