package answer

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// NotFinite is the error of a sample without a class, because models.HasArgmax refuses its scores.
type NotFinite struct{ Output string } // name of the output

// Error implements error.
func (e *NotFinite) Error() string {
	return "output " + e.Output + " is not finite (NaN or infinite): it gives no class"
}

// Finite reports whether the chosen outputs of a sample, or the output with its classes,
// have only finite numbers.
func (a *Answers) Finite(outs []tensor.Tensor) bool {
	given := a.Chosen
	if !a.Raw {
		given = []int{a.Scores}
	}
	return !slices.ContainsFunc(given, func(k int) bool { return device.Finite("", outs[k]) != nil })
}

// PixelClasses returns the class of each pixel of scores, f32 [C,H,W]: the class with the highest score, the
// first one of equal scores. output is the name of the output, for the error: a *NotFinite if a pixel has no
// class.
func PixelClasses(output string, scores tensor.Tensor) ([]byte, error) {
	width, pixels := scores.Shape[2], scores.Shape[1]*scores.Shape[2]
	pixel, classes := make([]float32, scores.Shape[0]), make([]byte, pixels)
	for at := range classes {
		for class := range pixel {
			pixel[class] = scores.F32()[class*pixels+at]
		}
		if !models.HasArgmax(pixel) {
			return nil, fmt.Errorf("at pixel %d, %d: %w", at%width, at/width, &NotFinite{output})
		}
		classes[at] = byte(slices.Index(pixel, slices.Max(pixel)))
	}
	return classes, nil
}
