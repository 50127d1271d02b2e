package train

import (
	"slices"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/tensor"
)

// The denominator of each replica counts its labels, but not those of repeated rows, which come after
// them. Dropout is drawn by epoch and sample.
func TestBatch(t *testing.T) {
	l, err := data.NewLoader(t.Context(), newBench(t, 9).source, data.Plan{Batch: 3, Seed: 7, Shuffle: true,
		Start: data.Position{Epoch: 3}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	b, err := l.Next()
	if err != nil {
		t.Fatal(err)
	}
	b.Labels = tensor.Of([]int32{0, -1, 1}, 3)
	p := &plan{wrapped: written(t, tableGraph).Graph}
	out := p.batch(b, parallel.Slices{Sizes: []int{1, 1, 3, 2}, Repeated: 4})
	for i := range 7 {
		if got := out.Rows["x"].Rows(i, i+1); !tensor.Equal(got, b.X.Rows(i%3, i%3+1)) {
			t.Errorf("row %d is not sample %d", i, i%3)
		}
	}
	of := b.Samples.I64()
	got := out.Rows[spmd.InputIdent].I64()[:6]
	if !slices.Equal(got, []int64{3, of[0], 3, of[1], 3, of[2]}) {
		t.Errorf("epochs and samples %v", got)
	}
	if out.Inverse != float32(1.0/5) || !slices.Equal(out.Inverses, []float32{1, 0, 0.5, 0.5}) {
		t.Errorf("inverse %v, of replicas %v", out.Inverse, out.Inverses)
	}
}
