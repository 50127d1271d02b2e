package job

import (
	"context"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/problem"
)

// evaluatedOn returns the part of the validation data that is taken if its name
// does not say: val, or test where there is none. A run of a release that took
// test goes on with test.
func (j *Job) evaluatedOn() data.Split {
	if j.was != nil && j.was.Validation.Split == string(data.Test) {
		return data.Test
	}
	return data.Val
}

// unseen refuses validation on samples that a new run trains on: what is shown
// as figures of validation, and decides which weights are best, would be those
// of training.
func (j *Job) unseen(ctx context.Context) error {
	if j.was != nil || j.Validation == nil {
		return nil
	}
	within, err := data.Within(ctx, j.Validation, j.Data)
	if err != nil || !within {
		return err
	}
	return problem.New("val", "", "all of its "+problem.Counted(j.Validation.Info().Len, "sample")+
		" are samples of {data} too: their figures are those of training",
		"name a folder or files with other samples, or leave it out")
}
