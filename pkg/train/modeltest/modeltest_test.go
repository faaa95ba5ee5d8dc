package modeltest

import (
	"testing"

	"github.com/revgnn/revgnn/pkg/models"
)

// TestEveryModel runs all checks on every registered model.
func TestEveryModel(t *testing.T) {
	for _, model := range models.Names() {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			Check(t, model)
		})
	}
}
