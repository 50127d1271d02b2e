package main

import (
	"strconv"

	"github.com/bnctl/bnctl/tensor"
)

// jsonPredictions writes a line of JSON for each input.
type jsonPredictions struct {
	*predictions
	events *output
}

func (w *jsonPredictions) write(input string, outs []tensor.Tensor) error {
	if !w.Raw {
		w.events.event("predict", struct {
			Input string  `json:"input"`
			Top   []class `json:"top"`
		}{input, w.best(outs)})
		return nil
	}
	values := map[string]any{}
	for _, k := range w.Chosen {
		o := outs[k]
		values[w.Name(k)] = map[string]any{"shape": o.Shape, "dtype": o.DType.String(), "data": elements(o)}
	}
	w.events.event("predict", struct {
		Input   string         `json:"input"`
		Outputs map[string]any `json:"outputs"`
	}{input, values})
	return nil
}

func (w *jsonPredictions) end() error { return nil }

// elements returns the elements of a tensor as numbers that JSON can write:
// null stands for what is not finite.
func elements(t tensor.Tensor) []any {
	values := make([]any, t.Count())
	for i, s := range words(t) {
		if v, err := strconv.ParseFloat(s, 64); err == nil && v-v == 0 {
			values[i] = jsonNumber(s)
		}
	}
	return values
}

// jsonNumber is a number that is written already.
type jsonNumber string

// MarshalJSON implements json.Marshaler.
func (n jsonNumber) MarshalJSON() ([]byte, error) { return []byte(n), nil }
