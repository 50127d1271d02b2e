package server

import (
	"fmt"

	"github.com/bnctl/bnctl/modelfile/doctor"
	"github.com/bnctl/bnctl/models"
)

// Sick is the error for a model with faulty batch-norm statistics. Such a model is not served.
type Sick struct {
	Path   string
	Faults []string // faults that package doctor found
}

func (e *Sick) Error() string {
	s := fmt.Sprintf("%s is sick: %s", e.Path, e.Faults[0])
	if n := len(e.Faults) - 1; n > 0 {
		s += fmt.Sprintf(", and %d more", n)
	}
	return s
}

// sickness returns the faults of a model's statistics, or nil.
func sickness(m *models.Model) []string {
	s := doctor.Diagnose(m)
	return s.Faults()
}
