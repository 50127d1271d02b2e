package formats

import (
	"strings"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
)

// remedy returns the advice for a graph that is not supported. If the reason names a node
// with a fault, it is the advice of that fault.
func remedy(f *File) string {
	for _, found := range f.Findings {
		if found.Fault && found.Advice != "" && found.Where != "" &&
			strings.Contains(f.NoModel.Error(), " "+found.Where+")") {
			return found.Advice
		}
	}
	return "name the model with {arch}"
}

// Template returns the model of a file. arch is an architecture without weights, or nil. If arch is nil,
// Template uses the file's graph, or the architecture of the zoo that the file's tensors fit.
func Template(f *File, arch *models.Model) (*models.Model, error) {
	if arch == nil && f.Model != nil {
		return f.Model, nil
	}
	if arch == nil && f.NoModel != nil {
		return nil, problem.Failure("", "the graph in the file is not supported: "+f.NoModel.Error(),
			remedy(f)).Because(f.NoModel)
	}
	renameOld(f)
	if arch == nil {
		var err error
		if arch, err = Identify(f); err != nil {
			return nil, err
		}
	}
	return apply(f, arch)
}
