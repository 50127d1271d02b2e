package serialize

import (
	"fmt"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// outputType is a models.FileType, with the name of its type.
type outputType struct {
	Output string    `msgpack:"output"`
	DType  string    `msgpack:"dtype"`
	Picks  string    `msgpack:"picks,omitempty"`
	Shape  list[int] `msgpack:"shape"`
}

func outputTypes(types []models.FileType) (all list[outputType]) {
	for _, t := range types {
		all = append(all, outputType{t.Output, t.DType.String(), t.Picks, listOf(t.Shape)})
	}
	return all
}

// fileTypes returns the types of outputs that a header has.
func (h *header) fileTypes() (list []models.FileType, err error) {
	for _, t := range h.Types {
		d, err := tensor.ParseDType(t.DType)
		if err != nil {
			return nil, fmt.Errorf("output %.80q: %w", t.Output, err)
		}
		list = append(list, models.FileType{Output: t.Output, DType: d, Picks: t.Picks, Shape: t.Shape})
	}
	return list, nil
}
