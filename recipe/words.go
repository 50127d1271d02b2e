package recipe

import (
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel/weightsync"
	"github.com/bnctl/bnctl/problem"
)

// AnswersInWords counts the answers of the model for a sample. It names the loss, unless it is the loss of
// classes.
func (r *Recipe) AnswersInWords() string {
	switch {
	case r.TargetStd != nil:
		return problem.Plural(len(r.TargetStd), "number") + ", " + r.Loss + " error"
	case evaluation.Loss{Of: r.Loss}.IsBoxes():
		return "boxes of " + problem.Plural(r.Data.Classes, "class")
	case r.Loss != "":
		return problem.Plural(r.Data.Classes, "label") + ", binary cross-entropy"
	}
	return problem.Plural(r.Data.Classes, "class")
}

// TrainLossTerms returns the names of the terms of the training loss that the validation loss lacks.
func (r *Recipe) TrainLossTerms() (terms []string) {
	if r.ClassWeights != "" || r.PosWeights != "" {
		terms = append(terms, "weighted")
	}
	if r.LabelSmoothing > 0 {
		terms = append(terms, "smoothed")
	}
	if r.Augment.Mixes() {
		terms = append(terms, "mixed")
	}
	return terms
}

// LossInWords describes the terms of the training loss that the validation loss lacks, or
// returns "" if both are equal.
func (r *Recipe) LossInWords() string {
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
	if r.Augment.Mixes() {
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

// MovingStatistics describes how many running statistics move although the gammas and betas of their
// layers are frozen. It returns "" if there are none of these.
func (r *Recipe) MovingStatistics(g *graph.Graph) string {
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

// KeepsTogether describes how the replicas' weights are kept together, or returns "" if every device
// sums the gradients.
func (r *Recipe) KeepsTogether() string {
	if k, ok := r.WeightSync.Period(); ok {
		return fmt.Sprintf("each replica trains separate weights; weights averaged every %s",
			problem.Plural(k, "step"))
	}
	if s, ok := r.WeightSync.Span(); ok {
		return fmt.Sprintf("gradients applied up to %s late", problem.Plural(s, "step"))
	}
	if r.WeightSync == weightsync.Template {
		return "one device makes every update and sends it to the others"
	}
	return ""
}

// SamplingInWords describes how an epoch chooses its samples, or returns "" if it uses each
// once.
func (r *Recipe) SamplingInWords() string {
	kind, _, _ := strings.Cut(r.Sampling, ":")
	switch kind {
	case "":
		return ""
	case columnWeights:
		kind = "the weights of their column"
	default:
		kind = "weights of their classes"
	}
	return fmt.Sprintf("each epoch draws %s by %s: some come several times, others not at all",
		problem.Plural(r.Data.Samples, "sample"), kind)
}

// LengthDiffers names the lengths that differ although Differences accepts them.
func (r *Recipe) LengthDiffers(first *Recipe) []string {
	var out []string
	if r.Epochs > first.Epochs {
		out = append(out, fmt.Sprintf("epochs is %d, on rank 0 %d", r.Epochs, first.Epochs))
	}
	if r.Steps > first.Steps {
		out = append(out, fmt.Sprintf("steps is %d, on rank 0 %d", r.Steps, first.Steps))
	}
	return out
}
