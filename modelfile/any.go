package modelfile

import (
	"fmt"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
)

// OpenOrBuild returns a model of the zoo by name, or else the model of a file. A model of
// the zoo has new weights drawn from seed 0, and the input [C,H,W] of o if it sets one. Use
// OpenOrBuild to measure a model, not to predict.
func OpenOrBuild(name string, o Options) (*Opened, error) {
	a, err := models.Lookup(name)
	if err != nil {
		m, fileErr := Open(name, o)
		if fileErr != nil {
			return nil, fmt.Errorf("%w; as a file: %w", err, fileErr)
		}
		return m, nil
	}
	if err := o.checkSize(); err != nil {
		return nil, err
	}
	input := o.withSize(a, models.Options{}).Input
	if len(o.Input) > 0 {
		if len(o.Input) != 3 {
			return nil, problem.New("input", fmt.Sprint(o.Input), "want [C,H,W] for "+name, "")
		}
		input = models.Size{Height: o.Input[1], Width: o.Input[2], Channels: o.Input[0]}
	}
	m, err := models.Build(name, models.Options{Input: input})
	if err != nil {
		return nil, err
	}
	return &Opened{Model: m}, models.Init(m, 0)
}
