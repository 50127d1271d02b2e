package evaluation

import (
	"encoding/json"

	"github.com/bnctl/bnctl/tensor"
)

// Figure is a number that may be NaN or infinite, for example the loss of a model with a bad batch norm. A
// number that is not finite is null in JSON.
type Figure float64

// MarshalJSON implements json.Marshaler.
func (f Figure) MarshalJSON() ([]byte, error) {
	if !tensor.IsFinite(float64(f)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(f))
}
