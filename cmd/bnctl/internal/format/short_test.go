package format

import (
	"strings"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// A line of text has all elements of a small output, but only the first elements of a large one.
func TestShortened(t *testing.T) {
	small := tensor.Of([]float32{0.5, -1, 2e-9}, 3)
	if got, want := Short("logits", small), "logits 0.5 -1 2e-09"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	mask := tensor.New(tensor.F32, 21, 64, 64)
	mask.F32()[1], mask.F32()[4] = -2.5, 7
	if got, want := Short("mask", mask), "mask f32[21,64,64] 0 -2.5 0 0 ..."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	whole := tensor.New(tensor.I64, shortElements)
	if got := Short("at", whole); strings.Count(got, "0") != shortElements || strings.Contains(got, "...") {
		t.Errorf("%d elements are shown as %q", shortElements, got)
	}
}
