package recipe

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/problem"
)

// columnWeights is the value of Recipe.Sampling for the weights that a table has for its samples.
const columnWeights = "column"

// setSampling resolves Sampling for data.
func (r *Recipe) setSampling(ctx context.Context, src data.Source) error {
	switch kind, _, _ := strings.Cut(r.Sampling, ":"); kind {
	case "":
		return nil
	case balancedWeights:
		if err := samplesOfAClass(r.Sampling, src.Info()); err != nil {
			return err
		}
		var err error
		if r.Sampling, err = balancedFrequencies(ctx, src); err != nil {
			return err
		}
	case columnWeights:
		weights, err := data.Weights(src)
		if err != nil {
			return err
		}
		h := sha256.New()
		for _, w := range weights {
			fmt.Fprintln(h, w)
		}
		r.Sampling = columnWeights + ":" + hex.EncodeToString(h.Sum(nil))
	}
	_, err := r.SampleWeights(ctx, src)
	return err
}

// checkSampling refuses an invalid Sampling.
func (r *Recipe) checkSampling() error {
	if kind, _, _ := strings.Cut(r.Sampling, ":"); kind == "" || kind == columnWeights {
		return nil
	}
	_, err := r.weightsIn("sampling", r.Sampling, "class", 0)
	return err
}

// samplesOfAClass refuses weights of classes for samples that are not of one class each.
func samplesOfAClass(value string, info data.Info) error {
	what := ""
	switch {
	case info.Boxes:
		what = "have boxes of several classes"
	case info.Masks || len(info.LabelShape) > 0 && !info.MultiLabel && info.Targets == nil:
		what = "have a class for each pixel: {class-weights} weighs these"
	case info.MultiLabel:
		what = "may have several labels: {pos-weights} weighs these"
	case info.Targets != nil:
		what = "have numbers, and no classes"
	default:
		return nil
	}
	return problem.New("sampling", value, "samples of "+info.Kind+" "+what,
		"give each sample a weight, in a column of a csv: source, and use {sampling} column")
}

// SampleWeights returns the weights for drawing samples; nil uses each sample once an
// epoch.
func (r *Recipe) SampleWeights(ctx context.Context, src data.Source) ([]float64, error) {
	if r.Sampling == "" {
		return nil, nil
	}
	if kind, _, _ := strings.Cut(r.Sampling, ":"); kind == columnWeights {
		weights, err := data.Weights(src)
		if err == nil && slices.Max(weights) == 0 {
			err = problem.New("sampling", columnWeights, "all samples have the weight 0: none can be drawn", "")
		}
		return weights, err
	}
	of, err := r.weightsIn("sampling", r.Sampling, "class", 0)
	if err == nil {
		err = samplesOfAClass(r.Sampling, src.Info())
	}
	if err != nil {
		return nil, err
	}
	weights := make([]float64, src.Info().Len)
	for i := range weights {
		label, err := src.Label(ctx, i)
		if err != nil {
			return nil, err
		}
		if label[0] >= 0 && int(label[0]) < len(of) {
			weights[i] = of[label[0]]
		}
	}
	if slices.Max(weights) == 0 {
		return nil, problem.New("sampling", r.Sampling, "all samples have the weight 0: none can be drawn", "")
	}
	return weights, nil
}
