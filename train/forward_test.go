package train

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/plugins/cpu"
	"github.com/bnctl/bnctl/tensor"
)

// segmentForward is the output of testdata/segment_forward.py: see there.
//
//go:embed testdata/segment_forward.txt
var segmentForward string

// Networks for pixels match torchvision's with the same weights: logits within 1e-5 of
// their size.
func TestPixelNetsAsInTorchvision(t *testing.T) {
	for line := range strings.Lines(segmentForward) {
		f := strings.Fields(line)
		g := &golden{model: f[0], classes: 4, side: 64, seed: 3}
		got := g.logits(t)
		var size float64
		fmt.Sscan(f[1], &size)
		for i, text := range f[2:] {
			var want float64
			fmt.Sscan(text, &want)
			if v := float64(got[i*len(got)/32]); math.Abs(v-want) > 1e-5*size {
				t.Errorf("%s: logit %d is %.9g, torchvision has %.9g", f[0], i*len(got)/32, v, want)
			}
		}
	}
}

// logits predicts the first image of the scripts.
func (g *golden) logits(t *testing.T) []float32 {
	t.Helper()
	ctx, m := context.Background(), g.build(t)
	f, err := spmd.PredictFunction(m.Graph)
	if err != nil {
		t.Fatal(err)
	}
	p := &graph.Program{Name: "forward", State: m.Graph.State, Functions: []*graph.Function{f}}
	d, err := cpu.Provider{}.Open(ctx, device.DefaultID, device.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	driver, err := parallel.Open(ctx, p, m.State, []parallel.Member{{Name: "0", Device: d}},
		parallel.Config{Replicas: 1, Batch: 1, Timeout: time.Hour}) // pure Go computes for half a minute
	if err != nil {
		t.Fatal(err)
	}
	defer driver.Close()
	x := tensor.New(tensor.U8, 1, g.side, g.side, 3)
	for i := range x.U8() {
		x.U8()[i] = uint8(g.words(1000, i) >> 24)
	}
	outs, err := driver.Predict(ctx, x)
	if err != nil {
		t.Fatal(err)
	}
	return outs[0].F32()
}

// A branch that pools the whole image has one value for each image. A replica with a single image is
// refused, and the error names the layer.
func TestPooledBranchIsRefused(t *testing.T) {
	m := (&golden{model: "deeplabv3-resnet50", classes: 4, side: 64}).template(t)
	wrapped, err := spmd.Wrap(m.Graph, spmd.Options{Replicas: 4, BN: bn.Replica, Stats: bn.Pooled})
	if err != nil {
		t.Fatal(err)
	}
	layers, err := bn.Layers(wrapped.Main)
	if err != nil {
		t.Fatal(err)
	}
	one, two := []bn.Partition{{What: "the full batch", Rows: []int{1, 1, 1, 1}}}, []bn.Partition{{Rows: []int{2, 2}}}
	var few *bn.TooFew
	err = bn.Feasible(layers, bn.Replica, one)
	if !errors.As(err, &few) || few.Layer != "classifier.0.convs.4.2" {
		t.Errorf("%v", err)
	}
	if err := bn.Feasible(layers, bn.Replica, two); err != nil {
		t.Error(err)
	}
	if err := bn.Feasible(layers, bn.Sync, one); err != nil {
		t.Error(err)
	}
}
