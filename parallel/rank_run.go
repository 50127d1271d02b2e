package parallel

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/internal/ranks"
	"github.com/bnctl/bnctl/parallel/step"
	"github.com/bnctl/bnctl/tensor"
)

// With several ranks a run is made together: each rank runs its replicas, then all
// exchange reports, and the result has the moments of all replicas.
//
//	rank 0   replicas 0..3   moments 0..3 --+
//	rank 1   replicas 4..7   moments 4..7 --+--> 0..7, on both
//
// Gradients and the loss are summed within the run, by the exchanges of the program.

// runOverRanks runs f on a batch on all ranks, and repeats the run while a rank loses a
// device. All ranks return when all have a result.
func (d *Driver) runOverRanks(ctx context.Context, f *graph.Function, b Batch) (Result, error) {
	mine := ranks.Verdict{Of: fmt.Sprintf("%s of version %d", f.Name, d.version), Stop: ctx.Err() != nil}
	ctx = context.WithoutCancel(ctx)
	var r Result
	all, err := d.ranks.together(ctx, &mine, func() ([]tensor.Tensor, error) {
		outs, t, err := d.run(ctx, f, b)
		if err != nil {
			return nil, err
		}
		r = step.ResultOf(f, outs, t)
		mine.RankStats = d.ranks.statsOf(b, t)
		return r.Moments, nil
	})
	if err != nil {
		return Result{}, err
	}
	for _, v := range all {
		r.Stop, r.Ranks = r.Stop || v.Stop, append(r.Ranks, v.RankStats)
	}
	d.retained = f.Name == graph.Train
	return r, nil
}

// OwnRows returns the rows [from, to) of a batch that this rank predicts. It returns all
// rows if there are fewer rows than ranks, or without peers.
func (d *Driver) OwnRows(rows int) (from, to int) {
	p := d.config.Peers
	if p == nil || rows < p.Size() {
		return 0, rows
	}
	return rows * p.Rank() / p.Size(), rows * (p.Rank() + 1) / p.Size()
}

// predictOverRanks predicts this rank's share and gathers the outputs of all ranks.
func (d *Driver) predictOverRanks(ctx context.Context, x tensor.Tensor) ([]tensor.Tensor, error) {
	from, to := d.OwnRows(x.Shape[0])
	var outs []tensor.Tensor
	shared := to-from < x.Shape[0]
	mine := ranks.Verdict{Of: fmt.Sprintf("predict %d rows", x.Shape[0])}
	_, err := d.ranks.together(ctx, &mine, func() (_ []tensor.Tensor, err error) {
		outs, err = d.predictHere(ctx, graph.Predict, []tensor.Tensor{x.Rows(from, to)})
		if !shared {
			return nil, err
		}
		return outs, err
	})
	return outs, err
}
