package predict

import (
	"slices"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// The expected values are from torch.nn.functional.interpolate(mode="bilinear", align_corners=False).
func TestScaledScores(t *testing.T) {
	for _, c := range []struct{ from, want []float32 }{
		{[]float32{0, 1}, []float32{0, 0.25, 0.75, 1}},
		{[]float32{0, 1, 2, 3}, []float32{0.5, 2.5}},
		{[]float32{5}, []float32{5, 5, 5}},
	} {
		wide := scaledScores(tensor.Of(c.from, 1, 1, len(c.from)), 1, len(c.want)).F32()
		high := scaledScores(tensor.Of(c.from, 1, len(c.from), 1), len(c.want), 1).F32()
		if !slices.Equal(wide, c.want) || !slices.Equal(high, c.want) {
			t.Errorf("%v: %v and %v, want %v", c.from, wide, high, c.want)
		}
	}
	square := scaledScores(tensor.Of([]float32{0, 1, 2, 3}, 1, 2, 2), 4, 4).F32()
	if square[5] != 0.75 || square[0] != 0 || square[15] != 3 || square[6] != 1.25 {
		t.Errorf("%v", square)
	}
}
