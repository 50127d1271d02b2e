package foreign

import (
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

func TestLoose(t *testing.T) {
	for name, want := range map[string]string{
		"loss": "part of a loss", "train_losses": "part of a loss", "loss_fn.weight": "part of a loss",
		"model.criterion.weight": "part of a loss", "class_weights": "part of a loss",
		"CELoss.pos_weight": "part of a loss", "glossary.weight": "", "class_weight_net.weight": "",
		"cuda_rng_state": "state of random numbers", "kerning.weight": "",
		"optimizer.state.0.exp_avg_sq": "state of the training", "state.3.momentum_buffer": "state of the training",
		"val_acc.tp": "part of a metric", "train_metrics.Accuracy.total": "part of a metric",
		"best_acc1": "part of a metric", "metric.weight": "", "accumulate.scale": "", "topology": "",
		"global_step": "a counter", "iteration": "a counter", "steps.weight": "", "layer1.0.conv1.weight": "",
		"logit_scale": "", "alpha": "", "mean": "", "head.scale": "",
	} {
		if got := Loose(name, tensor.F32, nil); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := Loose("x", tensor.U8, []int{5056}); got != "state of random numbers" {
		t.Errorf("5056 bytes: %q", got)
	}
	if got := Loose("steps", tensor.F32, []int{8}); got != "" {
		t.Errorf("a vector called steps: %q", got)
	}
}

// BenchmarkLoose measures Loose because the names of a large network are examined many
// times.
func BenchmarkLoose(b *testing.B) {
	for b.Loop() {
		Loose("backbone.layer4.2.downsample.1.running_mean", tensor.F32, []int{64})
	}
}
