package formats

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/bnctl/bnctl/formats/onnx"
	"github.com/bnctl/bnctl/formats/safetensors"
	"github.com/bnctl/bnctl/formats/torch"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/objects/cells"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/serialize"
)

// The ONNX operator sets that Export writes.
const (
	OldestOpset = onnx.OldestOpset
	NewestOpset = onnx.DefaultOpset
)

// ExportOptions are the settings of Export. The zero value chooses the format by the file
// name's extension.
type ExportOptions struct {
	Format string // "onnx", "safetensors" or "torch"; "": by the extension of the name
	Opset  int    // ONNX's operator set; 0 is onnx.DefaultOpset
	// Suppress ends the ONNX file of a detector in non-maximum suppression: see onnx.WriteSuppressed.
	Suppress *cells.Options
}

// Export writes a model: graph and weights as ONNX, or only the weights as safetensors or
// for PyTorch. The names are those in its graph; the zoo's models use torchvision's names.
// Export returns the SHA-256 of the file in hex. An existing file is replaced only when the
// new one is complete.
func Export(path string, m *models.Model, o ExportOptions) (string, error) {
	if o.Format == "" {
		o.Format = ExportFormat(path)
	}
	if m.Int8() && (o.Format == "safetensors" || o.Format == "torch") {
		return "", problem.Advise("export it as .onnx, or the float32 model that it was made of",
			"%s: the model is an int8 template, and a state dict has no place for its scales", path)
	}
	var write func(io.Writer) error
	switch o.Format {
	case "onnx":
		if o.Opset == 0 {
			o.Opset = onnx.DefaultOpset
		}
		write = func(w io.Writer) error { return onnx.WriteOpset(w, m, o.Opset) }
		if o.Suppress != nil {
			write = func(w io.Writer) error { return onnx.WriteSuppressed(w, m, o.Opset, *o.Suppress) }
		}
	case "safetensors":
		write = func(w io.Writer) error { return safetensors.Write(w, Tensors(m), m.Labels...) }
	case "torch":
		write = func(w io.Writer) error { return torch.Write(w, Tensors(m), m.Labels...) }
	default:
		return "", fmt.Errorf("%s: want a name that ends with .onnx, .safetensors or .pth", path)
	}
	return serialize.WriteSummed(path, write)
}

// ExportFormat returns the format for the ending of a path: "onnx",
// "safetensors" or "torch"; "" for any other ending.
func ExportFormat(path string) string {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".onnx":
		return "onnx"
	case ".safetensors":
		return "safetensors"
	case ".pth", ".pt":
		return "torch"
	}
	return ""
}
