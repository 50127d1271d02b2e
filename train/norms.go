package train

import (
	"context"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/tensor"
)

// Norms reports the batch norms at the end of an epoch, with Config.Norms: their running
// statistics, compared with the moments of the last full batch and with the epoch before.
type Norms struct {
	Epoch  int          `json:"epoch"` // counted from 1
	Layers []bn.Summary `json:"layers"`
}

// Event implements Event.
func (Norms) Event() string { return "norms" }

// normsWatch has the values that the batch norms of an epoch are compared with.
type normsWatch struct {
	moments  []tensor.Tensor // moments of the last full batch; nil before the first one
	rows     int             // number of rows of that batch
	previous []bn.Norm       // norms at the end of the previous epoch; nil in the first
}

// watchNorms keeps the moments of a batch that may be the last full one of an epoch.
func (s *Session) watchNorms(b parallel.Batch, moments []tensor.Tensor) {
	if w := &s.norms; s.plan.config.Norms && s.mayBeProbe(s.trainer.progress.Step) && rowsOf(b) >= w.rows {
		w.moments, w.rows = moments, rowsOf(b)
	}
}

// reportNorms reports the batch norms at the end of an epoch. It changes nothing.
func (s *Session) reportNorms(ctx context.Context, epoch int) error {
	if !s.plan.config.Norms || len(s.plan.layers) == 0 {
		return nil
	}
	state, err := s.trainer.current(ctx)
	if err != nil {
		return err
	}
	w, gammas := &s.norms, gammasOf(s.plan.template.Graph)
	e := Norms{Epoch: epoch}
	var now []bn.Norm
	for i, l := range s.plan.layers {
		n := bn.Norm{Name: l.Name, Mean: state[l.Mean].Clone(), Variance: state[l.Variance].Clone(), Eps: l.Eps,
			Updates: -1, Decay: l.Decay}
		if gamma, ok := state[gammas[l.Mean]]; ok {
			n.Gamma = gamma.Clone()
		}
		var moments tensor.Tensor
		if i < len(w.moments) {
			moments = w.moments[i]
		}
		var before bn.Norm
		if w.previous != nil {
			before = w.previous[i]
		}
		e.Layers, now = append(e.Layers, bn.Summarise(n, moments, before)), append(now, n)
	}
	s.norms = normsWatch{previous: now}
	s.plan.emit(e)
	return nil
}

// gammasOf maps the state tensors of running means to the state tensors of gammas.
func gammasOf(g *graph.Graph) map[string]string {
	const gamma, mean = 1, 3
	names := map[string]string{}
	for i := range g.Main.Nodes {
		if n := &g.Main.Nodes[i]; n.Op == graph.BatchNorm {
			names[g.Main.Values[n.In[mean]].State] = g.Main.Values[n.In[gamma]].State
		}
	}
	return names
}
