package recipe

import (
	"slices"
	"strings"

	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel/losses"
	"github.com/bnctl/bnctl/problem"
)

// saves lists the values of Recipe.Save.
func saves() []string {
	all := []string{"last"}
	for _, f := range models.Figures() {
		all = append(all, "best:"+f)
	}
	return all
}

// Criterion returns the criterion of Save. The default is accuracy, or the AP50 for boxes, or the
// loss for labels that do not exclude each other and for numbers.
func (r *Recipe) Criterion() evaluation.Criterion {
	if name, ok := strings.CutPrefix(r.Save, "best:"); ok {
		return evaluation.Criterion(name)
	}
	switch r.Loss {
	case "":
		return "accuracy"
	case losses.Boxes, losses.YOLOX:
		return "ap50"
	}
	return "loss"
}

// task is the kind of the labels of data.
type task int

const (
	classLabels task = iota // one label for each sample
	masks                   // one label for each pixel
	someLabels              // several labels for each sample
	numbers
	boxes
)

// figuresOf lists the figures that evaluations have, by task.
var figuresOf = map[task][]string{
	classLabels: {"accuracy", "loss", "balanced-accuracy", "f1"},
	masks:       {"miou", "accuracy", "loss", "balanced-accuracy", "f1"},
	someLabels:  {"loss", "accuracy", "f1", "auroc", "exact"},
	numbers:     {"loss", "mae", "rmse", "r2"},
	boxes:       {"ap50", "loss"},
}

// taskOf returns the task of the training data, by a recipe that SetData has filled in.
func (r *Recipe) taskOf(isMask bool) task {
	switch {
	case r.TargetStd != nil:
		return numbers
	case evaluation.Loss{Of: r.Loss}.IsBoxes():
		return boxes
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
		numbers: "numbers", boxes: "boxes"}[r.taskOf(isMask)]
	if known[0] == "accuracy" {
		if what = problem.Plural(r.Data.Classes, "class"); r.Data.Classes == 2 {
			known = append(known, "auroc")
		}
	}
	if slices.Contains(known, string(r.Criterion())) {
		return nil
	}
	e := problem.New("save", r.Save, "data of "+what+" does not have this figure; there are "+
		strings.Join(known, ", "), "")
	for _, name := range known {
		e.Known = append(e.Known, "best:"+name)
	}
	return e
}
