package commandline

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// ModelComesFirst extends an error about the first argument, which should be the model, if
// a later argument is a model.
func ModelComesFirst(first string, rest []string, err error) error {
	for _, later := range rest {
		if slices.Contains(modelExtensions, strings.ToLower(filepath.Ext(later))) {
			return problem.Advise("the model comes first: bnctl predict "+later+" "+first, "%w", err)
		}
	}
	return err
}

// modelExtensions are the extensions of files with models, which are not inputs.
var modelExtensions = []string{".bnm", ".pth", ".pt", ".ckpt", ".onnx", ".safetensors", ".h5", ".keras",
	".caffemodel"}
