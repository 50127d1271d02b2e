package bnctl

import (
	"context"
	"strings"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/objects/samples"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
)

// validationSplit returns the part of the validation data that is used by default: val, or test if there is
// no val. A resumed run that an older release evaluated on test continues with test.
func (r *Run) validationSplit() data.Split {
	if r.previous != nil && r.previous.Validation.Split == string(data.Test) {
		return data.Test
	}
	return data.Val
}

// checkUnseen returns an error if the validation data has samples that a new run also trains on. The
// validation figures, and the choice of the best weights, would then be based on training samples.
func (r *Run) checkUnseen(ctx context.Context) error {
	if r.previous != nil || r.validation == nil || r.valSplit != nil {
		return nil
	}
	within, err := data.Within(ctx, r.validation, r.data)
	if err != nil || !within {
		return err
	}
	return problem.New("val", "", "all of its "+problem.Plural(r.validation.Info().Len, "sample")+
		" are samples of {data} too: their figures are those of training",
		"set some of {data} apart with {val-split}, or name other samples")
}

// openOwnPart opens the part val of the data for validation, if it has one.
func (r *Run) openOwnPart(ctx context.Context, o data.Options) error {
	if r.data.Info().Split != data.Train || samples.LacksSplit(r.data, data.Val) {
		return nil
	}
	name := strings.TrimSuffix(r.paths.Data, "@"+string(data.Train))
	o.Split = data.Val
	src, err := samples.OpenData(ctx, name, o)
	if err != nil {
		return err
	}
	if src.Info().Split != data.Val {
		return src.Close()
	}
	r.paths.Validation, r.validation = name, src
	return nil
}

// holdOut sets samples of the data apart for validation.
func (r *Run) holdOut(ctx context.Context) error {
	h := r.o.ValSplit
	if h == (data.Holdout{}) && r.previous != nil && r.o.Validation == "" {
		h = r.previous.ValSplit.Holdout()
	}
	if h == (data.Holdout{}) || h.Unsplit && r.validation != nil {
		return nil
	}
	if r.validation != nil {
		return problem.New("val-split", "", "it excludes {val}", "drop one of them")
	}
	split, err := h.Split(ctx, r.data)
	if err != nil {
		return err
	}
	whole, err := split.Fingerprint(ctx)
	if err != nil {
		return err
	}
	h.IgnoreCopies = split.Copies == 0
	r.data, r.validation, r.valSplit = split.Training, split.Validation, recipe.NewValSplit(h, whole)
	r.notify(SamplesHeldOut{split})
	return nil
}

// findCopies looks for equal pictures in the data of a new run, and reports them.
func (r *Run) findCopies(ctx context.Context) error {
	if r.previous != nil || !r.o.Copies {
		return nil
	}
	var others []data.Source
	if r.validation != nil {
		others = append(others, r.validation)
	}
	copies, err := data.FindCopies(ctx, r.data, others...)
	if err == nil && copies != nil {
		r.notify(CopiesFound{copies})
	}
	return err
}
