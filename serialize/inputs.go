package serialize

import (
	"fmt"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// inputField is a models.Field, with the name of its type.
type inputField struct {
	Name  string    `msgpack:"name"`
	DType string    `msgpack:"dtype"`
	Shape list[int] `msgpack:"shape"`
}

func inputFields(fields []models.Field) (all list[inputField]) {
	for _, p := range fields {
		all = append(all, inputField{p.Name, p.DType.String(), listOf(p.Shape)})
	}
	return all
}

// fields returns the inputs that a header has. models.Model.Check checks them.
func (h *header) fields() (list []models.Field, err error) {
	for _, p := range h.Inputs {
		d, err := tensor.ParseDType(p.DType)
		if err != nil {
			return nil, fmt.Errorf("input %.80q: %w", p.Name, err)
		}
		list = append(list, models.Field{Name: p.Name, DType: d, Shape: p.Shape})
	}
	return list, nil
}

// version returns the version of the container. Files with several inputs or with
// thresholds have version 2, because a program that only reads version 1 would ignore these
// fields and give other answers.
func (h *header) version() uint32 {
	if h.Inputs != nil || len(h.Thresholds) > 0 {
		return Version
	}
	return first
}
