// Package format writes the predictions for many inputs as JSON, CSV or NumPy arrays. All formats have
// the same values, with all digits. For models that give each pixel a class, Folder writes masks,
// overlays or probabilities.
//
// Use CSV, JSON or NPY to create a Writer, and All to predict a source and write the results. A model
// with several outputs has several arrays: Paths and Files create their files.
package format

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Check returns a *problem.Error about the option format, unless name is json, csv, npy, page, one of
// Folders, or one of others, the caller's additional formats.
func Check(name string, others ...string) error {
	known := slices.Concat([]string{"json", "csv"}, others, []string{"npy"}, Folders(), []string{pageFormat})
	if slices.Contains(known, name) {
		return nil
	}
	return &problem.Error{Field: "format", Value: strconv.Quote(name), Known: known,
		Text: "want one of " + strings.Join(known, ", ")}
}

// Writer writes predictions, input by input.
type Writer interface {
	// Write writes all outputs of the model for one input. They do not have the axis of rows. The error is a
	// *predict.NotFinite if the outputs are not finite, so that no class is predicted.
	Write(input string, outputs []tensor.Tensor) error
	// End must be called after the last input.
	End() error
}

// numbers returns the elements of a tensor as text with all digits, in row-major order.
func numbers(t tensor.Tensor) []string {
	s := make([]string, t.Count())
	for i := range s {
		switch t.DType {
		case tensor.F32:
			s[i] = probability(t.F32()[i]).String()
		case tensor.F64:
			s[i] = strconv.FormatFloat(t.F64()[i], 'g', -1, 64)
		case tensor.I32:
			s[i] = strconv.Itoa(int(t.I32()[i]))
		case tensor.I64:
			s[i] = strconv.FormatInt(t.I64()[i], 10)
		case tensor.I8:
			s[i] = strconv.Itoa(int(int8(t.Bytes[i])))
		case tensor.I16:
			s[i] = strconv.Itoa(int(tensor.View[int16](t)[i]))
		case tensor.U16:
			s[i] = strconv.Itoa(int(tensor.View[uint16](t)[i]))
		case tensor.U32:
			s[i] = strconv.FormatUint(uint64(tensor.View[uint32](t)[i]), 10)
		case tensor.U64:
			s[i] = strconv.FormatUint(tensor.View[uint64](t)[i], 10)
		default:
			s[i] = strconv.Itoa(int(t.Bytes[i]))
		}
	}
	return s
}

// probability is a float32 that is written with all its digits. In JSON it is null if it is not finite.
type probability float32

func (s probability) String() string { return strconv.FormatFloat(float64(s), 'g', -1, 32) }

// MarshalJSON implements json.Marshaler.
func (s probability) MarshalJSON() ([]byte, error) {
	if !tensor.IsFinite(float32(s)) {
		return []byte("null"), nil
	}
	return []byte(s.String()), nil
}
