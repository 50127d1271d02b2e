package train

import (
	"context"
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/tensor"
)

// Gap compares the loss of a model in training with its loss in evaluation, on
// the last full batch of an epoch and with the weights at its end.
type Gap struct {
	Batch   float64 `json:"batch_loss"`       // mean cross-entropy, normalised as in training and with dropout
	Running float64 `json:"running_loss"`     // loss of the same batch, normalised with the running statistics
	Advice  string  `json:"advice,omitempty"` // advice if the gap is large
}

// remember keeps a batch for the gap if the epoch, or the run, ends with this batch, or with a smaller batch
// after it.
func (s *Session) remember(b parallel.Batch) {
	if !s.mayBeProbe(s.trainer.progress.Step) || rowsOf(b) < rowsOf(s.probe) {
		return
	}
	s.probe = b.Clone()
}

// mayBeProbe reports whether the batch of a step may be the last full one of an
// epoch, or of the run.
func (s *Session) mayBeProbe(step int) bool {
	r := s.plan.recipe
	left := min(r.StepsPerEpoch()-step%r.StepsPerEpoch(), r.TotalSteps()-step)
	return left <= 2 && len(s.plan.layers) > 0
}

func rowsOf(b parallel.Batch) int {
	n := 0
	for _, k := range b.Sizes {
		n += k
	}
	return n
}

// gap runs the remembered batch in training and in evaluation form. It changes no state. It returns nil
// without a batch, as in a run resumed at the end of an epoch, or if a loss is not finite.
func (s *Session) gap(ctx context.Context) (*Gap, error) {
	b := s.probe
	s.probe = parallel.Batch{}
	if len(b.Sizes) == 0 {
		return nil, nil
	}
	statistics, err := s.trainer.statistics.final()
	if err != nil {
		return nil, err
	}
	if err := s.trainer.weights.show(ctx, statistics); err != nil {
		return nil, err
	}
	trained, err := s.trainer.weights.dryRun(ctx, b)
	if err != nil {
		return nil, err
	}
	outs, err := s.trainer.driver.Predict(ctx, b.Rows[s.plan.inputName()])
	if err != nil {
		return nil, err
	}
	used, err := s.plan.lossInUse(outs[0], b.Rows)
	if err != nil {
		return nil, err
	}
	trained = s.plan.perLabel(b, trained)
	g := &Gap{Batch: ratio(trained.Loss, trained.Counted), Running: used}
	if sum := g.Batch + g.Running; !tensor.IsFinite(sum) {
		return nil, nil
	}
	g.Advice = s.adviceOn(g)
	return g, nil
}

// large reports whether the model is clearly worse in use than in training.
func (g *Gap) large() bool { return g.Running > 0.1+float64(1.5*g.Batch) }

// adviceOn returns advice about a large gap. Statistics that are estimated again at the end
// need no advice.
func (s *Session) adviceOn(g *Gap) string {
	r := s.plan.recipe
	if !g.large() || s.estimateOver() > 0 {
		return ""
	}
	var ways []string
	if r.BNStats != bn.Pooled {
		ways = append(ways, "{bn-stats} pooled")
	}
	if r.BN == bn.Replica {
		ways = append(ways, "{bn} sync", "fewer {replicas}")
	}
	if _, async := r.BNUpdate.Span(); async {
		ways = append(ways, "{bn-update} step")
	}
	ways = append(ways, fmt.Sprintf("{bn-precise} %d", min(averageSamples, r.Data.Samples)))
	return s.plan.config.withOptionNames(fmt.Sprintf("with running statistics the loss of the same samples "+
		"is %.3f, with batch statistics %.3f: the model is worse in use than in training; try %s",
		g.Running, g.Batch, strings.Join(ways, " or ")))
}
