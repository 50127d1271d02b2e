package formats

import (
	"errors"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// TestBatchNorms finds batch norms by the names that different programs give to their
// parts.
func TestBatchNorms(t *testing.T) {
	var tensors []Tensor
	for _, name := range []string{
		"bn1.running_mean", "bn1.running_var", "bn1.weight", "bn1.bias", "bn1.num_batches_tracked",
		"running_mean", "running_var",
		"net/bn/moving_mean", "net/bn/moving_variance", "net/bn/gamma", "net/bn/beta",
		"bn_2/bn_2/moving_mean:0", "bn_2/bn_2/moving_variance:0",
		"bn_3/bn_3_running_mean", "bn_3/bn_3_running_std", "bn_3/bn_3_gamma",
		"layers/batch_normalization_1/vars/0", "layers/batch_normalization_1/vars/1",
		"layers/batch_normalization_1/vars/2", "layers/batch_normalization_1/vars/3",
		"layers/batch_normalization/vars/0", "layers/batch_normalization/vars/1",
		"layers/batch_normalization/vars/2", // without gamma, or without beta
		"layers/conv2d/vars/2", "layers/conv2d/vars/3", "overrunning_mean",
	} {
		tensors = append(tensors, InMemory(name, tensor.New(tensor.F32, 2)))
	}
	norm := func(name, mean, variance, gamma, beta, count string) BatchNorm {
		return BatchNorm{Name: name, Mean: mean, Variance: variance, Gamma: gamma, Beta: beta, Count: count}
	}
	want := []BatchNorm{
		norm("bn1", "bn1.running_mean", "bn1.running_var", "bn1.weight", "bn1.bias", "bn1.num_batches_tracked"),
		norm("", "running_mean", "running_var", "", "", ""),
		norm("net/bn", "net/bn/moving_mean", "net/bn/moving_variance", "net/bn/gamma", "net/bn/beta", ""),
		norm("bn_2/bn_2", "bn_2/bn_2/moving_mean:0", "bn_2/bn_2/moving_variance:0", "", "", ""),
		norm("bn_3/bn_3", "bn_3/bn_3_running_mean", "bn_3/bn_3_running_std", "bn_3/bn_3_gamma", "", ""),
		norm("layers/batch_normalization_1", "layers/batch_normalization_1/vars/2",
			"layers/batch_normalization_1/vars/3", "layers/batch_normalization_1/vars/0",
			"layers/batch_normalization_1/vars/1", ""),
		norm("layers/batch_normalization", "layers/batch_normalization/vars/1",
			"layers/batch_normalization/vars/2", "", "", ""),
	}
	if got := BatchNorms(&File{Tensors: tensors}); !slices.Equal(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// TestModelNorms finds the batch norms of a graph, with all their tensors and attributes.
func TestModelNorms(t *testing.T) {
	m := foldedModel(t)
	norms, err := Norms(&File{Model: m})
	if err != nil || len(norms) != 2 || norms[0].Name != "n1" || norms[1].Name != "n2" {
		t.Fatalf("%+v, %v", norms, err)
	}
	for i, want := range []string{"n1.weight", "n1.bias", "n1.running_mean", "n1.running_var"} {
		got := []tensor.Tensor{norms[0].Gamma, norms[0].Beta, norms[0].Mean, norms[0].Variance}[i]
		if !tensor.Equal(got, m.State[want]) {
			t.Errorf("%s is %v", want, got.F32())
		}
	}
	if norms[0].Eps != 1e-3 || norms[0].Updates != -1 {
		t.Errorf("eps %g, %d updates", norms[0].Eps, norms[0].Updates)
	}
}

// TestNormsOfTornTensors: the error of an unreadable tensor is returned, including the
// counter's.
func TestNormsOfTornTensors(t *testing.T) {
	counter, err := NewTensor("bn.num_batches_tracked", tensor.I64, []int{},
		func([]byte) error { return errors.New("torn") })
	if err != nil {
		t.Fatal(err)
	}
	f := &File{Tensors: append(ones("bn.weight:2", "bn.running_mean:2", "bn.running_var:2"), counter)}
	if n, err := Norms(f); err == nil {
		t.Errorf("%+v", n)
	}
}
