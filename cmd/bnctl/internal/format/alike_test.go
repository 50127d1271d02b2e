package format

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/tensor"
)

// TestAlike: if outputs have different numbers of rows for different inputs, they cannot be written as an
// array or a table.
func TestAlike(t *testing.T) {
	m := &models.Model{Tail: &models.Tail{Outputs: []models.OutputInfo{{Name: "boxes", Hosted: true}}}}
	a := &predict.Answers{Model: m, Chosen: []int{0}, Raw: true}
	for name, w := range map[string]Writer{"npy": NPY(a, 2, []io.Writer{&bytes.Buffer{}}), "csv": CSV(a, &bytes.Buffer{})} {
		if err := w.Write("a.png", []tensor.Tensor{tensor.New(tensor.F32, 3, 4)}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		err := w.Write("b.png", []tensor.Tensor{tensor.New(tensor.F32, 2, 4)})
		if err == nil || !strings.Contains(err.Error(), "b.png: output boxes is f32[2,4], and f32[3,4] for the first") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
