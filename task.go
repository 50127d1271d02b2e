package bnctl

import (
	"strconv"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/problem"
)

// checkTask returns an error if the task is unknown, or contradicts the kind of labels in the data.
func (o *TrainOptions) checkTask(info data.Info) error {
	is, labels := "classify", "neither masks nor boxes"
	switch {
	case info.Masks:
		is, labels = "segment", "masks"
	case info.Boxes:
		is, labels = "detect", "boxes"
	}
	switch o.Task {
	case "", is:
		return nil
	case "classify", "segment", "detect":
		return problem.New("task", o.Task, "contradicts {data}: the labels of "+info.Kind+" are "+labels,
			"leave it off: the data decides it")
	}
	return &problem.Error{Field: "task", Value: strconv.Quote(o.Task), Text: "want classify, segment or detect",
		Known: []string{"classify", "segment", "detect"}}
}
