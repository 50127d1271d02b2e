package train

import "encoding/json"

// Figure is a number that need not be finite, as the loss of a model with a sick
// batch norm: JSON has null for it then.
type Figure float64

// MarshalJSON implements json.Marshaler.
func (f Figure) MarshalJSON() ([]byte, error) {
	if f-f != 0 { // NaN for infinities and NaN
		return []byte("null"), nil
	}
	return json.Marshal(float64(f))
}
