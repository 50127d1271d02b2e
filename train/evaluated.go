package train

import (
	"slices"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/tensor"
)

// Evaluated is an evaluation at the end of an epoch, as Config.Evaluated gets it.
type Evaluated struct {
	Epoch      int // counted from 1
	Best       bool
	Evaluation *Evaluation
	Labels     []string // names of the classes; nil: they have none
	// Mistakes are samples of Source that were answered wrongly, the surest first, 24 at most; none for
	// masks, and none whose outputs are not finite.
	Mistakes []Mistake
	Source   data.Source // the validation data, to read samples of before the run ends
}

// Mistake is a sample that was answered wrongly.
type Mistake struct {
	Sample, Label, Predicted int
	Probability, OfLabel     float64 // of the predicted class, and of the label
}

// mostMistakes is how many samples Evaluated.Mistakes has at most.
const mostMistakes = 24

// noteMistake is EvalOptions.Observe: it keeps the surest wrong answers.
func (s *Session) noteMistake(sample, label int, logs []float64) {
	best := 0
	for c, v := range logs {
		if v > logs[best] {
			best = c
		}
	}
	if best == label || !tensor.IsFinite(logs[best]) {
		return
	}
	m := Mistake{sample, label, best, tensor.Exp(logs[best]), tensor.Exp(logs[label])}
	all := s.mistakes
	if len(all) == mostMistakes && m.Probability <= all[mostMistakes-1].Probability {
		return
	}
	at := slices.IndexFunc(all, func(o Mistake) bool { return o.Probability < m.Probability })
	if at < 0 {
		at = len(all)
	}
	all = slices.Insert(all, at, m)
	s.mistakes = all[:min(len(all), mostMistakes)]
}

// tellEvaluation hands an evaluation to the one that asked for it.
func (s *Session) tellEvaluation(epoch int, e *Evaluation) {
	if tell := s.plan.config.Evaluated; tell != nil {
		tell(Evaluated{Epoch: epoch, Best: s.trainer.progress.BestStep == s.trainer.progress.Step, Evaluation: e,
			Labels: s.plan.template.Labels, Mistakes: s.mistakes, Source: s.plan.config.Validation})
	}
}
