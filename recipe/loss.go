package recipe

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel/losses"
	"github.com/bnctl/bnctl/problem"
)

// setLoss resolves Loss, PosWeights and TargetStd for data.
func (r *Recipe) setLoss(ctx context.Context, training data.Source) error {
	info := training.Info()
	l, err := evaluation.ParseLoss(r.Loss)
	if err != nil {
		return err
	}
	refuse := func(labels string) error {
		return problem.New("loss", r.Loss, "the labels of "+info.Kind+" are "+labels,
			"leave it off: the data decides it")
	}
	r.TargetStd, r.MostBoxes = nil, 0
	switch {
	case info.Boxes:
		if r.Loss != "" && !l.IsBoxes() {
			return refuse("boxes")
		}
		if r.Loss == "" {
			r.Loss = losses.Boxes
		}
		if r.Loss == losses.YOLOX {
			r.MostBoxes = data.MostBoxes(info, r.Augment)
		}
	case info.Targets != nil:
		if r.Loss == "" {
			r.Loss = losses.SquaredError
		} else if !l.IsNumeric() {
			return refuse("numbers")
		}
		targets, err := trainingTargets(ctx, training)
		if err != nil {
			return err
		}
		for _, t := range targets {
			r.TargetStd = append(r.TargetStd, t.Std)
		}
	case info.MultiLabel:
		if r.Loss == "" {
			r.Loss = losses.BinaryCrossEntropy
		} else if l.Of != losses.BinaryCrossEntropy {
			return refuse("labels that do not exclude each other")
		}
	case r.Loss != "":
		return refuse("classes that exclude each other")
	}
	if r.PosWeights == balancedWeights {
		r.PosWeights, err = balancedPositives(ctx, training)
	}
	return err
}

// trainingTargets describes the numbers of training data, for scaling a model. If the numbers of a
// target are equal, their deviation is 1. A target without any number is a *problem.Error about the
// option data.
func trainingTargets(ctx context.Context, training data.Source) ([]data.Target, error) {
	all, err := data.DescribeTargets(ctx, training)
	for k := range all {
		if all[k].N == 0 {
			return nil, problem.New("data", "", "no sample to train on has a number for "+all[k].Name,
				"leave the target out")
		}
		if float32(all[k].Std) < math.SmallestNonzeroFloat32*0x1p23 {
			all[k].Std = 1
		}
	}
	return all, err
}

// Answering returns the form of m that gives the answers for the data: models.ForLabels,
// models.ForNumbers, or m itself for classes that exclude each other. scaled means that the
// head of m is new, so that its numbers are in units of the deviation around the mean of
// training data.
func Answering(ctx context.Context, m *models.Model, training data.Source, scaled bool) (
	*models.Model, error) {
	info := training.Info()
	if info.MultiLabel {
		return models.ForLabels(m), nil
	}
	if info.Targets == nil {
		return m, nil
	}
	targets, err := trainingTargets(ctx, training)
	if err != nil {
		return nil, err
	}
	if err := fits("data", m, info); err != nil { // checked before the outputs of m are scaled
		return nil, err
	}
	var mean, std []float64
	for _, t := range targets {
		if scaled {
			mean, std = append(mean, t.Mean), append(std, t.Std)
		}
	}
	return models.ForNumbers(m, mean, std)
}

// checkLoss refuses options of the loss that contradict each other.
func (r *Recipe) checkLoss() error {
	l, err := evaluation.ParseLoss(r.Loss)
	if err != nil {
		return err
	}
	refuse := func(option, value, loss, advice string) error {
		return problem.New(option, value, "it has no meaning for "+loss, advice)
	}
	switch {
	case l.IsMatched() && r.Precision == device.BF16:
		return problem.New("precision", r.Precision, "it would round the corners of objects in the loss yolox",
			"use f32, or {loss} boxes")
	case l.IsBoxes() && (r.LabelSmoothing > 0 || r.ClassWeights != "" || r.AuxWeight > 0):
		return problem.New("loss", r.Loss, "label smoothing, weights of classes and auxiliary heads have no "+
			"meaning for boxes", "leave them off")
	case l.IsNumeric() && r.LabelSmoothing > 0:
		return refuse("label-smoothing", fmt.Sprint(r.LabelSmoothing), "numbers", "leave it off")
	case l.IsNumeric() && r.ClassWeights != "":
		return refuse("class-weights", r.ClassWeights, "numbers", "leave it off")
	case l.Of == losses.BinaryCrossEntropy && r.ClassWeights != "":
		return refuse("class-weights", r.ClassWeights, "labels that do not exclude each other",
			"weigh their positives with {pos-weights}")
	case l.Of != losses.BinaryCrossEntropy && r.PosWeights != "":
		return refuse("pos-weights", r.PosWeights, "labels that exclude each other, or numbers", "leave it off")
	case l.IsNumeric() && (r.Save == "best:accuracy" || r.Save == "best:miou"):
		return refuse("save", r.Save, "numbers", "use best or best:loss")
	case l.Of == losses.BinaryCrossEntropy && r.Save == "best:miou":
		return refuse("save", r.Save, "labels that do not exclude each other", "use best or best:accuracy")
	}
	_, err = r.posWeights(0)
	return err
}

// posWeights returns the weights of the positives of each of K labels, or nil if the recipe has none.
func (r *Recipe) posWeights(labels int) ([]float64, error) {
	if r.PosWeights == "" {
		return nil, nil
	}
	return r.weightsIn("pos-weights", r.PosWeights, "label", labels)
}

// weighsNoBoxes returns the error for weights of boxes.
func weighsNoBoxes(option string) error {
	return problem.New(option, balancedWeights, "it has no meaning for boxes", "leave it off")
}

// balancedPositives returns the weights of positives for "balanced": the number of
// negatives of a label over the number of positives, or 1 if either is 0.
func balancedPositives(ctx context.Context, src data.Source) (string, error) {
	info := src.Info()
	if info.Boxes {
		return "", weighsNoBoxes("pos-weights")
	}
	if !info.MultiLabel {
		return "", problem.New("pos-weights", balancedWeights, "labels of "+info.Kind+" exclude each other",
			"use {class-weights} balanced")
	}
	positives, negatives := make([]int, len(info.Classes)), make([]int, len(info.Classes))
	for i := range info.Len {
		label, err := src.Label(ctx, i)
		if err != nil {
			return "", err
		}
		for k, l := range label {
			switch l {
			case 1:
				positives[k]++
			case 0:
				negatives[k]++
			}
		}
	}
	texts := make([]string, len(positives))
	for k := range positives {
		weight := 1.0
		if positives[k] > 0 && negatives[k] > 0 {
			weight = float64(negatives[k]) / float64(positives[k])
		}
		texts[k] = strconv.FormatFloat(weight, 'g', -1, 64)
	}
	return strings.Join(texts, ","), nil
}

// TrainingLoss returns the loss of training for a number of outputs of the model.
func (r *Recipe) TrainingLoss(outputs int) (evaluation.TrainingLoss, error) {
	l, err := evaluation.ParseLoss(r.Loss)
	if err != nil {
		return evaluation.TrainingLoss{}, err
	}
	l.Std = r.TargetStd
	weights, err := r.posWeights(outputs)
	return evaluation.TrainingLoss{Loss: l, Smoothing: r.LabelSmoothing, PosWeights: weights}, err
}
