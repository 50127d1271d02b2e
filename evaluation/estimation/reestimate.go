package estimation

import (
	"context"
	"io"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/losses"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Estimator runs the forward pass of training. Package parallel's Driver
// implements it.
type Estimator interface {
	// Moments returns the moments of a batch: for each batch norm of C channels f64 [R, 1+2C], with a row for
	// each of the R replicas.
	Moments(ctx context.Context, b parallel.Batch) (parallel.Result, error)
}

// Open loads only the forward pass of training on devices, for batches of batch rows. wrapped is the graph of
// m as package parallel divides it among these replicas. The caller closes the driver. The devices remain the
// caller's.
func Open(ctx context.Context, m *models.Model, wrapped *graph.Graph, devices []parallel.Member,
	batch, replicas int) (*parallel.Driver, error) {
	estimate, err := spmd.EstimateFunction(wrapped)
	if err != nil {
		return nil, err
	}
	p := &graph.Program{Name: m.Graph.Name, State: m.Graph.State, Functions: []*graph.Function{estimate}}
	return parallel.Open(ctx, p, m.State, devices, parallel.Config{Replicas: replicas, Batch: batch})
}

// Reestimation determines how running statistics are estimated again.
type Reestimation struct {
	Layers   []bn.Layer // layers of the wrapped graph that the estimator runs
	Input    string     // name of the model's input
	Batch    int        // rows of a full batch, over all replicas
	Replicas int        // number of replicas that share a batch; at most Batch
	Samples  int        // maximum number of samples
}

// Reestimate computes the running statistics of every batch norm for the weights that the estimator has: the
// exact moments of the first r.Samples samples of l, pooled over batches and replicas. It returns the
// statistics by the names of the state tensors, and the number of samples that it used. The error names a
// layer that received fewer than two values, or is a *bn.NonFinite if the input is bad.
func Reestimate(ctx context.Context, e Estimator, l *data.Loader, r Reestimation) (
	statistics map[string]tensor.Tensor, counted int, err error) {
	p := bn.NewPrecise(r.Layers)
	for counted < r.Samples {
		b, err := l.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, counted, err
		}
		n := min(r.Samples-counted, b.Len())
		moments, err := r.Moments(ctx, e, b, n)
		if err != nil {
			return nil, counted, err
		}
		p.Add(moments)
		counted += n
		b.Release()
	}
	statistics, err = p.Tensors()
	return statistics, counted, err
}

// Moments returns the moments of the first n rows of a batch for every layer:
// f64 [R, 1+2C], a row for each replica.
func (r *Reestimation) Moments(ctx context.Context, e Estimator, b *data.Batch, n int) (
	[]tensor.Tensor, error) {
	rows := map[string]tensor.Tensor{r.Input: b.X, losses.InputLabels: b.Labels,
		spmd.InputIdent: b.Ident()}
	result, err := e.Moments(ctx, parallel.Batch{Rows: rows, Inverse: 1,
		Sizes: parallel.Keep.Slice(n, r.Batch, r.Replicas).Sizes})
	if err != nil {
		return nil, err
	}
	if err := bn.Check(r.Layers, result.Moments); err != nil {
		return nil, problem.Advise("look for bad input", "re-estimating the statistics: %w", err)
	}
	return result.Moments, nil
}
