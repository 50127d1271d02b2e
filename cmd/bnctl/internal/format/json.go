package format

import (
	"strconv"

	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/tensor"
)

// JSON returns a Writer that calls event for every input. It passes a value that encodes to JSON with the
// best classes, or with the outputs by name.
func JSON(a *predict.Answers, event func(v any)) Writer { return &jsonPredictions{a, event} }

type jsonPredictions struct {
	*predict.Answers
	event func(v any)
}

// class is one class of a prediction, in the form of its JSON.
type class struct {
	Label string      `json:"label"`
	Index int         `json:"index"`
	P     probability `json:"p"`
}

func (w *jsonPredictions) Write(input string, outs []tensor.Tensor) error {
	if w.Numbers() {
		return w.writeNumbers(input, outs)
	}
	if !w.Raw {
		best, err := w.Best(outs)
		line := struct {
			Input string   `json:"input"`
			Top   []class  `json:"top"`
			Above *[]class `json:"labels,omitempty"` // labels above their thresholds: predict.Answers.Holding
		}{input, classes(best), nil}
		if w.Decides() && err == nil {
			holding, _ := w.Holding(outs)
			above := append([]class{}, classes(holding)...)
			line.Above = &above
		}
		w.event(line)
		return err
	}
	values := map[string]any{}
	for _, k := range w.Chosen {
		o := outs[k]
		values[w.Name(k)] = map[string]any{"shape": o.Shape, "dtype": o.DType.String(), "data": elements(o)}
	}
	w.event(struct {
		Input   string         `json:"input"`
		Outputs map[string]any `json:"outputs"`
	}{input, values})
	return nil
}

func classes(best []predict.Class) (list []class) {
	for _, k := range best {
		list = append(list, class{k.Label, k.Index, probability(k.P)})
	}
	return list
}

// value is a number of a prediction, in the form of its JSON.
type value struct {
	Label string      `json:"label"`
	Index int         `json:"index"`
	Value probability `json:"value"`
}

func (w *jsonPredictions) writeNumbers(input string, outs []tensor.Tensor) error {
	numbers, err := w.Values(outs)
	var values []value
	for _, v := range numbers {
		values = append(values, value{v.Label, v.Index, probability(v.Value)})
	}
	w.event(struct {
		Input  string  `json:"input"`
		Values []value `json:"values"`
	}{input, values})
	return err
}

func (w *jsonPredictions) End() error { return nil }

// elements returns the elements of a tensor as numbers that JSON can write. Elements that
// are not finite become null.
func elements(t tensor.Tensor) []any {
	values := make([]any, t.Count())
	for i, s := range numbers(t) {
		if v, err := strconv.ParseFloat(s, 64); err == nil && tensor.IsFinite(v) {
			values[i] = jsonNumber(s)
		}
	}
	return values
}

// jsonNumber is a number as text, in JSON's form.
type jsonNumber string

// MarshalJSON implements json.Marshaler.
func (n jsonNumber) MarshalJSON() ([]byte, error) { return []byte(n), nil }
