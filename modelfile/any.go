package modelfile

import (
	"fmt"

	"github.com/bnctl/bnctl/models"
)

// Any returns a model of the zoo by name, with new weights drawn from seed 0,
// or that of a file: to measure it, not to predict.
func Any(name string, o Options) (*Opened, error) {
	if _, err := models.Lookup(name); err != nil {
		m, fileErr := Open(name, o)
		if fileErr != nil {
			_, err = Zoo(name)
			return nil, fmt.Errorf("%w; as a file: %w", err, fileErr)
		}
		return m, nil
	}
	m, err := models.Build(name, models.Options{})
	if err != nil {
		return nil, err
	}
	return &Opened{Model: m}, models.Init(m, 0)
}
