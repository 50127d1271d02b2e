package serialize

import (
	"path/filepath"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// CheckName returns a *problem.Error if a file of that kind may not have the name path. The
// name of a template ends with .bnm and the name of a checkpoint with .bnc, in upper or
// lower case. Another extension, such as .onnx, would mislead the programs that read the
// file.
func CheckName(path string, k Kind) error {
	extension := filepath.Ext(path)
	plain := strings.TrimSuffix(path, extension)
	if k == Training {
		if strings.EqualFold(extension, ".bnc") {
			return nil
		}
		return problem.New("checkpoint", path, "the name of a checkpoint ends with .bnc", "")
	}
	switch strings.ToLower(extension) {
	case ".bnm":
		return nil
	case ".onnx", ".pth", ".pt", ".safetensors":
		return problem.New("output", path, "this is a template, whose name ends with .bnm",
			"write "+plain+".bnm, and make "+path+" of it with {export}")
	}
	return problem.New("output", path, "this is a template, whose name ends with .bnm", "name it "+plain+".bnm")
}
