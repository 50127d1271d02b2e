package formats

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats/safetensors"
	"github.com/bnctl/bnctl/formats/torch"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// tensorFile reports whether a path has the ending of a file that keeps
// tensors without a graph: .pth, .pt or .safetensors.
func tensorFile(path string) bool { return tensorWriter(path) != nil }

func tensorWriter(path string) func(io.Writer, []Tensor, ...string) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".pth", ".pt":
		return torch.Write
	case ".safetensors":
		return safetensors.Write
	}
	return nil
}

// Save writes tensors with their names, order and types, and the names of classes if there
// are any, in the format for path's extension. It returns the SHA-256 of the file in hex.
// One tensor at a time is in memory. An existing file is replaced only when the new one is
// complete.
func Save(path string, tensors []Tensor, labels ...string) (string, error) {
	write := tensorWriter(path)
	if write == nil {
		return "", fmt.Errorf("%s: want a name that ends with .pth or .safetensors", path)
	}
	return serialize.WriteSummed(path, func(w io.Writer) error { return write(w, tensors, labels...) })
}

// SaveModel writes m as a template, or only its tensors if path ends in .pth, .pt or
// .safetensors. It returns the SHA-256 of the file in hex.
func SaveModel(path string, m *models.Model) (string, error) {
	if tensorFile(path) {
		return Save(path, Tensors(m), m.Labels...)
	}
	return serialize.WriteModel(path, m)
}

// Tensors returns the state of a model in the order of its graph, with the names and forms of the file
// that the model was read from, and without tensors that the file lacks. Kernels of 1-D convolutions are
// [O,I,K]. A table of Swin's relative positions is followed by its index, without which PyTorch does not
// load the state dict.
func Tensors(m *models.Model) []Tensor {
	out, lines := make([]Tensor, 0, len(m.Graph.State)), models.LineKernels(m.Graph)
	for _, s := range m.Graph.State {
		for _, f := range m.FileForms(s.Name) {
			t := f.Moved(m.State[s.Name])
			if lines[s.Name] && slices.Equal(t.Shape, s.Shape) {
				t = t.Reshape(s.Shape[0], s.Shape[1], s.Shape[3])
			}
			out = append(out, InMemory(f.Name, t))
		}
		if layer, ok := strings.CutSuffix(s.Name, ".relative_position_bias_table"); ok && len(s.Shape) == 2 {
			out = append(out, InMemory(layer+".relative_position_index", distances(s.Shape[0])))
		}
	}
	for _, f := range m.FileTensors {
		has := func(t Tensor) bool { return t.Name == f.Name }
		if f.State == "" && !slices.ContainsFunc(out, has) {
			out = append(out, InMemory(f.Name, f.Content))
		}
	}
	return out
}

// distances returns, for each pair of positions in a window, the row of the table of
// relative positions for their distance. rows is the number of rows of that table.
func distances(rows int) tensor.Tensor {
	w := (int(math.Round(math.Sqrt(float64(rows)))) + 1) / 2
	t := tensor.New(tensor.I64, w*w*w*w)
	for i := range w * w {
		for j := range w * w {
			t.I64()[i*w*w+j] = int64((i/w-j/w+w-1)*(2*w-1) + i%w - j%w + w - 1)
		}
	}
	return t
}
