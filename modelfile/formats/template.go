package formats

import (
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
)

// Template returns the model that a file holds. as is an architecture without
// state, or nil: then the file's own graph is taken, or that of the zoo which
// its tensors fit.
func Template(f *File, as *models.Model) (*models.Model, error) {
	if as == nil && f.Model != nil {
		return f.Model, nil
	}
	if as == nil && f.NoModel != nil {
		return nil, problem.Failure("", "the graph in the file is not supported: "+f.NoModel.Error(),
			"name the model with {arch}").Because(f.NoModel)
	}
	if as == nil {
		var err error
		if as, err = Identify(f); err != nil {
			return nil, err
		}
	}
	return apply(f, as)
}
