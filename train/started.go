package train

import (
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Lines describes the training in a few lines.
func (e Started) Lines() []string {
	r := e.Recipe
	validation := ""
	if r.Validation.Samples > 0 {
		validation = " · validation on " + r.Validation.InWords()
	}
	lines := e.resumed()
	lines = append(lines,
		fmt.Sprintf("%s, %s, %s · %s%s", r.Model, problem.Plural(e.Parameters, "parameter"),
			r.AnswersInWords(), r.Data.InWords(), validation),
		fmt.Sprintf("sees %s · %s", e.Input, e.Pictures),
		e.Tensors.String(),
		fmt.Sprintf("batch %d over %s · batch norm: %s · tail %s", r.StepBatch(),
			problem.Plural(r.StepReplicas(), "replica"), e.BatchNorm, r.Tail),
		fmt.Sprintf("%s, lr %g, %s, weight decay %g · %s · seed %d", r.Optimizer, r.LR, r.Schedule, r.WeightDecay,
			problem.Plural(e.TotalSteps, "step"), r.Seed))
	for _, text := range []string{r.SamplingInWords(), r.LossInWords(), r.KeepsTogether(), e.Moving} {
		if text != "" {
			lines = append(lines, text)
		}
	}
	return lines
}

// resumed describes where a run is resumed. It returns nil for a new run.
func (e Started) resumed() []string {
	if e.FirstStep == 0 {
		return nil
	}
	text := fmt.Sprintf("resumed after step %d of %d, epoch %d", e.FirstStep, e.TotalSteps,
		(e.FirstStep-1)/e.Recipe.StepsPerEpoch()+1)
	if e.Recipe.Epochs > 0 {
		text += fmt.Sprintf(" of %d", e.Recipe.Epochs)
	}
	text += ", on " + strings.Join(e.Devices, ", ")
	if len(e.Stages) > 0 {
		text += " in " + problem.Plural(len(e.Stages), "stage")
	}
	return []string{text}
}

// sees describes the input of the model: "224x224x3" for pictures.
func sees(in graph.Type) string {
	if in.DType == tensor.U8 && len(in.Shape) == 3 {
		return models.Size{Height: in.Shape[0], Width: in.Shape[1], Channels: in.Shape[2]}.String()
	}
	return tensor.Describe(in.DType, in.Shape)
}

// pictures describes how samples become the model's input. If a model of the zoo was made for larger
// pictures than the data has, it advises to train at the size of the data.
func (s *Session) pictures() string {
	info := s.plan.config.Train.Info()
	text := s.plan.transform.InWords(info)
	_, err := models.Lookup(s.plan.template.Architecture)
	if err == nil && s.trainer.progress.Step == 0 && info.Pictures() && len(info.Shape) == 3 &&
		info.Shape[0] < s.plan.transform.Height && info.Shape[1] < s.plan.transform.Width {
		theirs := models.Size{Height: info.Shape[0], Width: info.Shape[1]}
		text += " ({size} " + theirs.Sides() + " uses them as they are)"
	}
	return s.plan.config.withOptionNames(text)
}
