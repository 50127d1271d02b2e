package bnctl

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/modelfile/quantize"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/train"
)

// startModel makes the model that the options name. In a resumed run the default size of pictures is the size
// in the checkpoint, even if another rule for the default applied then.
func (r *Run) startModel(ctx context.Context) (*modelfile.Started, error) {
	m, err := r.startFromOptions()
	if err != nil {
		return nil, err
	}
	o, drawn := r.o.Start, m.Weights == ""
	m.Model, err = recipe.Answering(ctx, m.Model, r.data, drawn || o.Init != "" || o.Classes != 0)
	if err != nil || !r.recipe.QAT {
		return m, err
	}
	m.Model, err = r.trainsInt8(ctx, m.Model, drawn)
	return m, err
}

func (r *Run) startFromOptions() (*modelfile.Started, error) {
	o := r.o.Start
	o.Seed, o.Auxiliary = r.recipe.Seed, r.recipe.AuxWeight > 0
	if r.from == nil || o.Size != (models.Size{}) || len(o.Input) > 0 {
		return modelfile.Start(r.o.Model, r.data.Info(), o)
	}
	was, err := serialize.Unwrap(r.from)
	if err != nil {
		return nil, err
	}
	o.Size, _ = was.Size()
	m, err := modelfile.Start(r.o.Model, r.data.Info(), o)
	if err != nil { // perhaps another model: the comparison of default sizes will show it
		o.Size = models.Size{}
		return modelfile.Start(r.o.Model, r.data.Info(), o)
	}
	return m, nil
}

// The ranges of values in an int8 template are measured on rangeSamples samples of the training data, in
// batches of the recipe's size, or of rangeBatch samples if that is smaller.
const (
	rangeSamples = 512
	rangeBatch   = 128
)

// trainsInt8 returns the model for quantisation-aware training that begins with m. drawn is set if weights
// of m are drawn from the seed.
func (r *Run) trainsInt8(ctx context.Context, m *models.Model, drawn bool) (*models.Model, error) {
	if drawn {
		return nil, problem.New("qat", "", "it needs weights that were trained in float32, and these are drawn",
			"add {init} FILE")
	}
	r.doing("measuring ranges")
	trained, err := quantize.Trainable(ctx, m, r.rangeOptions())
	if err != nil || m.TrainsInt8() {
		return trained, err
	}
	return trained, r.slowSmallWeights(trained)
}

// slowSmallWeights gives weights that are much smaller than the others a lower rate. The steps of Adam have
// one length for all weights, and those of SGD grow as the weights of a layer become smaller and its operands
// larger. LARS scales its steps itself. Rules of the user come after these, and so count more. The recipe of
// a resumed run has the rules already.
func (r *Run) slowSmallWeights(m *models.Model) error {
	if r.recipe.Optimizer == "lars" {
		return nil
	}
	names, err := train.Trained(m.Graph, r.recipe.Freeze)
	if err != nil {
		return err
	}
	var rules []string
	for _, w := range quantize.SmallWeights(m) {
		if slices.Contains(names, w.Name) && !strings.ContainsAny(w.Name, `*?[\=`) {
			factor := w.Factor
			if r.recipe.Optimizer == "sgd" {
				factor *= w.Factor
			}
			rules = append(rules, fmt.Sprintf("%s=%vx", w.Name, factor))
			r.note("the rate of %s is multiplied by %v: its weights are much smaller than those of other layers",
				w.Name, factor)
		}
	}
	if !slices.Equal(r.recipe.LROf[:min(len(rules), len(r.recipe.LROf))], rules) {
		r.recipe.LROf = append(rules, r.recipe.LROf...)
	}
	return nil
}

// rebuild implements train.Config.Rebuild.
func (r *Run) rebuild(ctx context.Context, m *models.Model, epoch int) (*models.Model, error) {
	o := r.rangeOptions()
	o.Opened = r.fleet
	return quantize.Rebuild(ctx, m, epoch, o)
}

// rangeOptions returns how the ranges of a training for int8 are measured.
func (r *Run) rangeOptions() quantize.Options {
	return quantize.Options{Data: r.data, Samples: rangeSamples, Batch: min(r.recipe.Batch, rangeBatch),
		Workers: r.o.Workers, Fleet: r.o.Fleet, Note: r.note,
		Follow: quantize.Follow{Ranges: r.recipe.QATRanges, Fold: r.recipe.QATFold}}
}
