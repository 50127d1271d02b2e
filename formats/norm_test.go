package formats

import (
	"slices"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// Batch norms are found by the names that every program gives their parts.
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
		"layers/conv2d/vars/2", "layers/conv2d/vars/3", "overrunning_mean",
	} {
		tensors = append(tensors, Held(name, tensor.New(tensor.F32, 2)))
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
	}
	if got := BatchNorms(&File{Tensors: tensors}); !slices.Equal(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}
