package answer

import (
	"encoding/json"

	"github.com/bnctl/bnctl/models"
)

// Terms are the settings that outputs depend on in addition to model and input: on the same
// terms they have the same bits.
type Terms struct {
	Kernels   string // kernel class: one name, or several joined by "+"
	Precision string // device.F32 or device.BF16
}

// TrainedOn returns the terms in the recipe of m: training evaluated it on these. Unknown
// terms are "", as in models of other programs, and in int8 templates, which training never
// evaluated.
func TrainedOn(m *models.Model) Terms {
	var t Terms
	if m.Int8() || json.Unmarshal(m.Recipe, &t) != nil {
		return Terms{}
	}
	return t
}
