package train

import (
	"math"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// criterion is the figure of an evaluation that determines the best weights, and whether
// patience is exhausted: one of models.Figures.
type criterion string

// saves lists the values of Recipe.Save.
func saves() []string {
	all := []string{"last"}
	for _, f := range models.Figures() {
		all = append(all, "best:"+f)
	}
	return all
}

// criterion returns the criterion of Save. The default is accuracy, or the loss of single
// elements.
func (r *Recipe) criterion() criterion {
	if name, ok := strings.CutPrefix(r.Save, "best:"); ok {
		return criterion(name)
	}
	if r.Loss != "" {
		return "loss"
	}
	return "accuracy"
}

// task is the kind of the labels of data.
type task int

const (
	classLabels task = iota // one class for each sample
	masks                   // one class for each pixel
	someLabels              // several labels for each sample
	numbers
)

// figuresOf lists the figures that evaluations have, by task.
var figuresOf = map[task][]string{
	classLabels: {"accuracy", "loss", "balanced-accuracy", "f1"},
	masks:       {"miou", "accuracy", "loss", "balanced-accuracy", "f1"},
	someLabels:  {"loss", "accuracy", "f1", "auroc", "exact"},
	numbers:     {"loss", "mae", "rmse", "r2"},
}

// taskOf returns the task of the training data, by a recipe that SetData has filled in.
func (r *Recipe) taskOf(isMask bool) task {
	switch {
	case r.TargetStd != nil:
		return numbers
	case r.Loss != "":
		return someLabels
	case isMask:
		return masks
	}
	return classLabels
}

// checkSave refuses a figure that evaluations of the data do not have.
func (r *Recipe) checkSave(isMask bool) error {
	if r.Save == "last" {
		return nil
	}
	known := slices.Clone(figuresOf[r.taskOf(isMask)])
	what := map[task]string{classLabels: "classes", masks: "masks", someLabels: "several labels",
		numbers: "numbers"}[r.taskOf(isMask)]
	if known[0] == "accuracy" {
		if what = problem.Plural(r.Data.Classes, "class"); r.Data.Classes == 2 {
			known = append(known, "auroc")
		}
	}
	if slices.Contains(known, string(r.criterion())) {
		return nil
	}
	e := problem.New("save", r.Save, "data of "+what+" does not have this figure; there are "+
		strings.Join(known, ", "), "")
	for _, name := range known {
		e.Known = append(e.Known, "best:"+name)
	}
	return e
}

// figure returns the criterion's figure of e. NaN becomes the worst possible figure.
func (c criterion) figure(e *Evaluation) float64 {
	v := c.of(e)
	switch {
	case tensor.IsFinite(v):
		return v
	case c.isError():
		return math.MaxFloat64
	case c == "r2":
		return -math.MaxFloat64
	}
	return 0
}

func (c criterion) of(e *Evaluation) float64 {
	switch c {
	case "loss":
		return e.Loss()
	case "miou":
		return float64(e.MeanOverlap())
	case "balanced-accuracy":
		_, recall := e.Macro()
		return float64(recall)
	case "f1":
		return float64(e.meanF1())
	case "auroc":
		return e.areas.mean()
	case "exact":
		return ratio(float64(e.Exact), float64(e.Judged))
	case "r2":
		return float64(e.MeanR2())
	case "mae":
		return e.meanError((*TargetError).MAE)
	case "rmse":
		return e.meanError((*TargetError).RMSE)
	}
	return e.Accuracy()
}

// meanF1 returns the mean of F1 over the classes, or the labels, that have one.
func (e *Evaluation) meanF1() Figure {
	if !e.MultiLabel {
		f1, _ := e.Macro()
		return f1
	}
	sum, n := 0.0, 0.0
	for _, c := range e.Labels {
		if _, _, f1 := c.Figures(); f1 == f1 {
			sum, n = sum+float64(f1), n+1
		}
	}
	return fraction(sum, n)
}

// meanError returns the mean of an error over the targets that have one, in units of the data.
func (e *Evaluation) meanError(of func(*TargetError) Figure) float64 {
	sum, n := 0.0, 0.0
	for k := range e.Targets {
		if v := float64(of(&e.Targets[k])); v == v {
			sum, n = sum+v, n+1
		}
	}
	return float64(fraction(sum, n))
}

// isError reports whether a smaller figure is better.
func (c criterion) isError() bool { return models.IsError(string(c)) }

// better reports whether a figure beats the best so far.
func (c criterion) better(v, best float64) bool {
	if c.isError() {
		return v < best
	}
	return v > best
}
