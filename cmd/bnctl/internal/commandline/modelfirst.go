package commandline

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// ModelComesFirst returns err, an error about the first argument, which should be the model. If a later
// argument is a model, it adds advice to put it first.
func ModelComesFirst(first string, others []string, err error) error {
	for _, arg := range others {
		if slices.Contains(modelExtensions, strings.ToLower(filepath.Ext(arg))) {
			return problem.Advise("the model comes first: bnctl predict "+arg+" "+first, "%w", err)
		}
	}
	return err
}

// modelExtensions are extensions of files with models. A file with one of them cannot be an input.
var modelExtensions = []string{".bnm", ".pth", ".pt", ".ckpt", ".onnx", ".safetensors", ".h5", ".keras",
	".caffemodel"}
