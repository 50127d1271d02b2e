package modelfile

import "github.com/bnctl/bnctl/formats"

// Choice is what of a foreign file was taken, what was left out, and what is
// to be said of it.
type Choice struct {
	Path     string
	Format   string            // "pytorch", "onnx" ...: as formats.File has it
	Key      string            // where the tensors were; "" if they are all that there is
	Tensors  int               // how many were taken
	Left     []formats.Group   // what was not, with the reason
	Findings []formats.Finding // what is odd, or a fault
}

// ChoiceOf says what was taken of f, the file at path.
func ChoiceOf(path string, f *formats.File) *Choice {
	return &Choice{Path: path, Format: f.Format, Key: f.Key, Tensors: len(f.Tensors), Left: f.Left,
		Findings: f.Findings}
}
