package device

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// The precisions at which a device can be opened.
//
// At F32 values are computed and stored in their types. At BF16
//
//   - the operands of matrix products (Conv, ConvGradInput, ConvGradWeight,
//     ConvTranspose, Dense, DenseGradInput, DenseGradWeight) are rounded by
//     RoundBF16 before they are multiplied. Products are exact, sums are float32
//     or better. The bias of a product is not one of its operands. Operands and
//     results below 2^-126 may be treated as 0;
//   - values, including inputs, are rounded by RoundBF16 when they are stored, if
//     StoredBF16 reports true for them. A device need not round a value that it
//     does not store because of a fusion. Outputs are always stored;
//   - everything else is as at F32: moments, statistics, softmax, loss, weights and
//     their gradients, updates. Inputs and outputs of a run are passed as float32.
const (
	F32  = "f32"
	BF16 = "bf16"
)

// Precisions returns F32 and BF16.
func Precisions() []string { return []string{F32, BF16} }

// StoredBF16 reports whether values of type t are stored as bfloat16 at
// precision BF16: float32 rows of two axes or more, which are feature maps and
// their gradients. Rows of one axis (logits, probabilities) are not.
func StoredBF16(t graph.Type) bool {
	return t.Kind == graph.Rows && t.DType == tensor.F32 && len(t.Shape) >= 2
}

// RoundBF16 returns the bfloat16 nearest to x; of two that are equally near, the
// even one. NaN stays NaN. A value out of range becomes infinite.
func RoundBF16(x float32) float32 {
	if x != x {
		return x
	}
	b := math.Float32bits(x)
	b += 0x7fff + b>>16&1
	return math.Float32frombits(b &^ 0xffff)
}

// Computes reports whether the device can be opened at a precision; "" is F32.
func (i Info) Computes(precision string) bool {
	return precision == "" || slices.Contains(i.precisions(), precision)
}

// precisions returns the precisions of the device, or only F32 if it lists none.
func (i Info) precisions() []string {
	if len(i.Precisions) == 0 {
		return []string{F32}
	}
	return i.Precisions
}

// CheckPrecision returns nil if the device can be opened at a precision. Otherwise it
// returns an error of kind Unsupported that lists the device's precisions.
func (i Info) CheckPrecision(precision string) error {
	if i.Computes(precision) {
		return nil
	}
	have := i.precisions()
	return Errorf(i.Name, "Open", Unsupported, "%w",
		problem.Advise("use {precision} "+have[0]+", or another device",
			"precision %s, and this device has %s only",
			precision, strings.Join(have, " and ")))
}

// ParsePrecision returns s if it is a precision, and F32 if it is "". The error
// lists the precisions.
func ParsePrecision(s string) (string, error) {
	switch {
	case s == "":
		return F32, nil
	case slices.Contains(Precisions(), s):
		return s, nil
	}
	return "", fmt.Errorf("precision %q: want one of %s", s, strings.Join(Precisions(), ", "))
}
