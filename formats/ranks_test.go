package formats

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/tensor"
)

// rank writes the file of one rank.
func rank(t *testing.T, dir string, k int, weight, mean, variance float32) string {
	t.Helper()
	path := filepath.Join(dir, fmt.Sprintf("rank%d.pth", k))
	_, err := Save(path, []Tensor{
		Held("module.conv.weight", tensor.Of([]float32{weight}, 1)),
		Held("module.bn.weight", tensor.Of([]float32{1}, 1)),
		Held("module.bn.running_mean", tensor.Of([]float32{mean}, 1)),
		Held("module.bn.running_var", tensor.Of([]float32{variance}, 1)),
		Held("module.bn.num_batches_tracked", tensor.Scalar(int64(10+k))),
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRanks(t *testing.T) {
	dir := t.TempDir()
	paths := []string{rank(t, dir, 0, 5, 1, 2), rank(t, dir, 1, 5, 3, 4)}
	for _, c := range []struct {
		rule           bn.Rule
		mean, variance float32
	}{{bn.Pooled, 2, 4}, {bn.Mean, 2, 3}, {bn.First, 1, 2}} {
		f, err := OpenRanks(paths, Options{Merge: c.rule})
		if err != nil {
			t.Fatal(err)
		}
		norms, err := Norms(f)
		if err != nil || len(norms) != 1 {
			t.Fatalf("%v, %d norms", err, len(norms))
		}
		if m, v := norms[0].Mean.F32()[0], norms[0].Variance.F32()[0]; m != c.mean || v != c.variance {
			t.Errorf("%s: mean %g, variance %g, want %g and %g", c.rule, m, v, c.mean, c.variance)
		}
		if norms[0].Name != "bn" || norms[0].Updates != 10 {
			t.Errorf("%s: got layer %s with %d updates, want bn with those of rank 0", c.rule, norms[0].Name,
				norms[0].Updates)
		}
		f.Close()
	}
}

func TestRanksDiffer(t *testing.T) {
	dir := t.TempDir()
	nan := float32(math.NaN())
	for _, c := range []struct {
		weight float32
		want   string
	}{{6, "the weights differ in 1 of 5 tensors (conv.weight)"}, {nan, "the weights differ in 1 of 5 tensors"}} {
		_, err := OpenRanks([]string{rank(t, dir, 0, 5, 1, 2), rank(t, dir, 1, c.weight, 1, 2)}, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("weight %g: got %v, want %q", c.weight, err, c.want)
		}
	}
}

// TestReplicas reads a checkpoint of TensorFlow with the variables of two replicas.
func TestReplicas(t *testing.T) {
	f, err := Open("tensorflow/testdata/cases/replicas.index", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := ""
	for _, x := range f.Tensors {
		v, err := x.Load()
		if err != nil {
			t.Fatal(err)
		}
		got += fmt.Sprintln(x, v.F32())
	}
	const want = `bn/moving_mean f32[2] [2 3]
bn/moving_variance f32[2] [2 2]
conv/kernel f32[1,2,2,3] [0 1 2 3 4 5 6 7 8 9 10 11]
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := fmt.Sprint(f.Wrappers); got != "[replica_1]" {
		t.Errorf("wrappers %s", got)
	}
}
