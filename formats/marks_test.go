package formats

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestMarks: in an ONNX file with weights computed by nodes, stored weights are counted and
// kept, each once; settings and computed tensors are neither counted nor kept.
func TestMarks(t *testing.T) {
	for name, want := range map[string]struct {
		parameters int
		kept       []string
	}{
		// A convolution of 4x4x3x3, a batch norm of 4 channels.
		"constants-dequantised": {144 + 4 + 4, []string{"q", "s", "z", "g", "b", "m", "v"}},
		"constants-identity":    {144 + 4 + 4, []string{"w1", "b", "m", "v", "g1", "g"}},
		"resize-line-axes":      {0, nil}, // only sizes: kept, because nothing else is there
	} {
		f, err := OpenRanks([]string{filepath.Join("onnx/testdata/cases", name+".onnx")}, Options{TensorsOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if got := Parameters(f); got != want.parameters {
			t.Errorf("%s: %d parameters, want %d", name, got, want.parameters)
		}
		ExcludeNonWeights(f)
		var kept []string
		for _, x := range f.Tensors {
			kept = append(kept, x.Name)
		}
		slices.Sort(kept)
		slices.Sort(want.kept)
		if want.kept != nil && !slices.Equal(kept, want.kept) || len(kept) == 0 {
			t.Errorf("%s: kept %v, want %v", name, kept, want.kept)
		}
	}
}
