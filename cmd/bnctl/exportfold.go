package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/tensor"
)

// foldEvent is what folding did, and what it changed by rounding.
type foldEvent struct {
	Folded        []string `json:"folded"`         // batch norms, by name
	Kept          []string `json:"kept"`           // those that no convolution or dense layer precedes
	MaxDifference float64  `json:"max_difference"` // of the outputs for the same random inputs
}

// noFold is the event of an export that folds nothing.
func noFold() foldEvent { return foldEvent{Folded: []string{}, Kept: []string{}} }

const (
	foldInputs = 4    // rows that both models are run on
	foldMost   = 1e-3 // difference that can be rounding, relative to the largest output
)

// folded folds the batch norms of m, runs m and the result on the same inputs,
// and refuses a result that computes something else.
func folded(c *cli.Context, m *models.Model) (*models.Model, foldEvent, error) {
	e := noFold()
	f, did, err := formats.Fold(m)
	if err != nil {
		return nil, e, err
	}
	e.Folded, e.Kept = append(e.Folded, did.Into...), append(e.Kept, did.Kept...)
	x, err := models.RandomInput(m, foldInputs)
	if err != nil {
		return nil, e, err
	}
	norms, err := unfolded(m)
	if err != nil {
		return nil, e, err
	}
	want, err := outputsOf(c.Context, c, norms, x)
	if err != nil {
		return nil, e, err
	}
	got, err := outputsOf(c.Context, c, f, x)
	if err != nil {
		return nil, e, err
	}
	largest := 0.0
	for i := range want {
		largest = max(largest, e.compare(got[i].F32(), want[i].F32()))
	}
	if !(e.MaxDifference <= foldMost*max(1, largest)) { // NaN is no difference that rounding makes
		return nil, e, fmt.Errorf("folding changes outputs of up to %.3g by up to %.3g: more than rounding does; "+
			"export without --fold-bn", largest, e.MaxDifference)
	}
	return f, e, nil
}

// unfolded returns m with batch norms that the device does not fold by itself,
// as it may where all their numbers are state: gamma is computed, as 1*gamma+0.
func unfolded(m *models.Model) (*models.Model, error) {
	f, out := m.Graph.Main, *m
	table := slices.Clone(m.Graph.State)
	c := graph.NewCopier(f, graph.NewBuilder(f.Name, &table))
	c.Inputs()
	for i := range f.Nodes {
		n := &f.Nodes[i]
		if n.Op == graph.BatchNorm {
			gamma := n.In[1]
			c.To[gamma] = c.B.Op(graph.Affine, c.B.Free(f.NodeName(n)+".gamma"), []graph.Value{c.Value(gamma)})
		}
		c.Copy(n)
	}
	c.Outputs()
	main, err := c.B.Function()
	out.Graph = &graph.Graph{Name: m.Graph.Name, State: table, Main: main}
	return &out, err
}

// compare adds an output to the largest difference. It returns its largest number.
func (e *foldEvent) compare(got, want []float32) float64 {
	largest := 0.0
	for i, w := range want {
		d := math.Abs(float64(got[i]) - float64(w))
		if d > e.MaxDifference || d != d {
			e.MaxDifference = d
		}
		largest = max(largest, math.Abs(float64(w)))
	}
	return largest
}

func (e *foldEvent) print(o *output) {
	o.result("folded %d batch norms; outputs differ by at most %.2g", len(e.Folded), e.MaxDifference)
	if len(e.Kept) > 0 {
		o.result("kept %d that no convolution or dense layer precedes: %s", len(e.Kept), strings.Join(e.Kept, ", "))
	}
}

// outputsOf runs m on the devices of the command line, at the precision of what
// is exported.
func outputsOf(ctx context.Context, c *cli.Context, m *models.Model, x tensor.Tensor) (
	[]tensor.Tensor, error) {
	o, err := fleetOptions(c, device.F32, noLimit)
	if err != nil {
		return nil, err
	}
	p, err := predict.Open(ctx, m, predict.Options{Fleet: o, Batch: x.Shape[0]})
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return p.Predict(ctx, x)
}
