package train

import (
	"fmt"
	"math"

	"github.com/revgnn/revgnn/pkg/models"
)

// Config describes a training; its field names are those of the command line and of run records.
type Config struct {
	models.Config
	// LearningRate and WeightDecay of Adam (Kingma and Ba 2015); the decay is added to the gradient, as in torch.optim.Adam.
	LearningRate float64 `json:"lr"`
	WeightDecay  float64 `json:"weight_decay"`
	// Epochs is the largest number of full-batch steps, and Patience that of steps without a strict improvement of the
	// validation metric before stopping; 0 never stops early.
	Epochs   int `json:"epochs"`
	Patience int `json:"patience"`
	// Seed draws the initial parameters and the dropout masks; split k uses Seed + k.
	Seed uint64 `json:"seed"`
}

// Default is a training of [models.Default] by the paper's rules: at most 1000 epochs, patience 100.
func Default(model string) Config {
	return Config{Config: models.Default(model), LearningRate: 0.005, Epochs: 1000, Patience: 100}
}

// Validate returns an error that names the first impossible setting and what to choose instead.
func (c Config) Validate() error {
	if err := c.Config.Validate(); err != nil {
		return err
	}
	switch {
	case !(c.LearningRate > 0) || math.IsInf(c.LearningRate, 0):
		return fmt.Errorf("lr is %g: choose a positive number", c.LearningRate)
	case !(c.WeightDecay >= 0) || math.IsInf(c.WeightDecay, 0):
		return fmt.Errorf("weight-decay is %g: choose zero or a positive number", c.WeightDecay)
	case c.Epochs < 1:
		return fmt.Errorf("epochs is %d: choose at least 1", c.Epochs)
	case c.Patience < 0:
		return fmt.Errorf("patience is %d: choose a number of epochs, or 0 to never stop early", c.Patience)
	}
	return nil
}

// Resolved fills in what depends on the model.
func (c Config) Resolved() Config {
	c.Config = c.Config.Resolved()
	return c
}
