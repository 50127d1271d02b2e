package bnctl

import (
	"context"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/problem"
)

// validationSplit returns the part of the validation data that is taken if its name
// does not say: val, or test where there is none. A run of a release that took
// test goes on with test.
func (r *Run) validationSplit() data.Split {
	if r.previous != nil && r.previous.Validation.Split == string(data.Test) {
		return data.Test
	}
	return data.Val
}

// checkUnseen refuses validation on samples that a new run trains on: what is shown
// as figures of validation, and decides which weights are best, would be those
// of training.
func (r *Run) checkUnseen(ctx context.Context) error {
	if r.previous != nil || r.validation == nil {
		return nil
	}
	within, err := data.Within(ctx, r.validation, r.data)
	if err != nil || !within {
		return err
	}
	return problem.New("val", "", "all of its "+problem.Counted(r.validation.Info().Len, "sample")+
		" are samples of {data} too: their figures are those of training",
		"name a folder or files with other samples, or leave it out")
}
