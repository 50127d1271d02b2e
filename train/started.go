package train

import (
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
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
			r.answersInWords(), r.Data.InWords(), validation),
		fmt.Sprintf("sees %s · %s", e.Input, e.Pictures),
		e.Tensors.String(),
		fmt.Sprintf("batch %d over %s · batch norm: %s · tail %s", r.StepBatch(),
			problem.Plural(r.StepReplicas(), "replica"), e.BatchNorm, r.Tail),
		fmt.Sprintf("%s, lr %g, %s, weight decay %g · %s · seed %d", r.Optimizer, r.LR, r.Schedule, r.WeightDecay,
			problem.Plural(e.TotalSteps, "step"), r.Seed))
	for _, text := range []string{r.samplingInWords(), r.lossInWords(), r.keepsTogether(), e.Moving} {
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

// answersInWords counts the answers of the model for a sample, and names a loss other than
// the one of classes.
func (r *Recipe) answersInWords() string {
	switch {
	case r.TargetStd != nil:
		return problem.Plural(len(r.TargetStd), "number") + ", " + r.Loss + " error"
	case r.Loss != "":
		return problem.Plural(r.Data.Classes, "label") + ", binary cross-entropy"
	}
	return problem.Plural(r.Data.Classes, "class")
}

// trainLossIs names the terms of the training loss that the validation loss lacks.
func (r *Recipe) trainLossIs() (terms []string) {
	if r.ClassWeights != "" || r.PosWeights != "" {
		terms = append(terms, "weighted")
	}
	if r.LabelSmoothing > 0 {
		terms = append(terms, "smoothed")
	}
	if r.mixes() {
		terms = append(terms, "mixed")
	}
	return terms
}

// lossInWords describes the terms of the training loss that the validation loss lacks, or
// returns "" if both are equal.
func (r *Recipe) lossInWords() string {
	var terms []string
	if r.ClassWeights != "" {
		terms = append(terms, "class weights")
	}
	if r.PosWeights != "" {
		terms = append(terms, "weights of positives")
	}
	if r.LabelSmoothing > 0 {
		terms = append(terms, fmt.Sprintf("label smoothing %g", r.LabelSmoothing))
	}
	if r.mixes() {
		terms = append(terms, "mixed samples")
	}
	if len(terms) == 0 {
		return ""
	}
	text := "train loss with " + strings.Join(terms, ", ")
	if r.Validation.Samples > 0 {
		text += ", val loss without: do not compare them"
	}
	return text
}

// moving describes how many running statistics move although the gammas and betas of their
// layers are frozen. It returns "" if there are none of these.
func (r *Recipe) moving(g *graph.Graph) string {
	frozen, err := models.Frozen(g.State, r.Freeze)
	if err != nil || r.BN == bn.Frozen {
		return ""
	}
	layers, statistics := 0, map[string]bool{}
	for i := range g.Main.Nodes {
		n := &g.Main.Nodes[i]
		if n.Op != graph.BatchNorm {
			continue
		}
		const gamma, beta, mean, variance = 1, 2, 3, 4
		name := func(k int) string { return g.Main.Values[n.In[k]].State }
		if frozen[name(gamma)] && frozen[name(beta)] && n.Float("decay") != 1 {
			layers++
			statistics[name(mean)], statistics[name(variance)] = true, true
		}
	}
	if layers == 0 {
		return ""
	}
	return fmt.Sprintf("%s of %s that {freeze} names still move with the data: {bn} frozen keeps "+
		"the statistics of all layers",
		problem.Plural(len(statistics), "running statistic"), problem.Plural(layers, "batch norm"))
}

// keepsTogether describes how the replicas' weights are kept together, if not by summing
// gradients everywhere.
func (r *Recipe) keepsTogether() string {
	if k, ok := r.WeightSync.Period(); ok {
		return fmt.Sprintf("each replica trains separate weights; weights averaged every %s",
			problem.Plural(k, "step"))
	}
	if s, ok := r.WeightSync.Span(); ok {
		return fmt.Sprintf("gradients applied up to %s late", problem.Plural(s, "step"))
	}
	if r.WeightSync == parallel.Template {
		return "one device makes every update and sends it to the others"
	}
	return ""
}

// sees writes the input of m: "224x224x3" of pictures.
func sees(in graph.Type) string {
	if in.DType == tensor.U8 && len(in.Shape) == 3 {
		return models.Size{Height: in.Shape[0], Width: in.Shape[1], Channels: in.Shape[2]}.String()
	}
	return tensor.Describe(in.DType, in.Shape)
}

// pictures describes how samples become the model's input. It gives advice if a model of
// the zoo was made for larger pictures than the data has: it may as well see them at their
// size.
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
