package train

import "encoding/json"

// Figure is a number that may be NaN or infinite, such as the loss of a model
// with a bad batch norm. In JSON it is null then.
type Figure float64

// MarshalJSON implements json.Marshaler.
func (f Figure) MarshalJSON() ([]byte, error) {
	if f-f != 0 { // NaN for infinities and NaN
		return []byte("null"), nil
	}
	return json.Marshal(float64(f))
}
