package foreign

import (
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// TestLooseAlone recognises tensors that torch.nn's losses and torchmetrics store. It does
// not recognise tensors with similar names that a model may have trained or may compute
// with.
func TestLooseAlone(t *testing.T) {
	number, vector, matrix := []int{}, []int{4}, []int{4, 8}
	for _, c := range []struct {
		name  string
		d     tensor.DType
		shape []int
		want  string
	}{
		{"criterion.weight", tensor.F32, vector, "part of a loss"},
		{"criterion.0.pos_weight", tensor.F16, vector, "part of a loss"},
		{"model.seg_loss.weight", tensor.F32, vector, "part of a loss"},
		{"loss_fn/weight", tensor.F64, vector, "part of a loss"},
		{"criterion.weight", tensor.F32, matrix, ""},      // trained: an angular margin loss
		{"loss_norm.weight", tensor.F32, vector, ""},      // a norm
		{"criterion.bias", tensor.F32, vector, ""},        // belongs to a layer
		{"criterion.log_vars", tensor.F32, vector, ""},    // trained
		{"clip_loss.logit_scale", tensor.F32, number, ""}, // trained
		{"val_loss.mean_value", tensor.F32, number, "part of a loss"},
		{"val_loss.weight", tensor.F32, number, "part of a loss"},
		{"val_loss", tensor.F32, number, "part of a loss"},
		{"loss_scale", tensor.F32, number, ""},
		{"val_acc.tp", tensor.I64, vector, "part of a metric"},
		{"metrics.total", tensor.F32, number, "part of a metric"},
		{"metrics.total", tensor.F32, vector, ""},
		{"best_acc1", tensor.F32, number, "part of a metric"},
		{"precision", tensor.F32, number, ""}, // trained
		{"global_step", tensor.I64, number, "a counter"},
		{"quantizer.step", tensor.F32, number, ""}, // trained: LSQ
		{"torch_rng_state", tensor.U8, []int{5056}, "state of random numbers"},
		{"attn.mask", tensor.U8, []int{64}, ""},      // a model computes with it
		{"scheduler.alphas", tensor.F32, vector, ""}, // a model computes with it, too
		{"bn1.num_batches_tracked", tensor.I64, number, ""},
		{"layer1.0.conv1.weight", tensor.F32, matrix, ""},
		{"position_ids", tensor.I64, []int{1, 77}, ""},
	} {
		if got := LooseAlone(c.name, c.d, c.shape); got != c.want {
			t.Errorf("%s %v%v: %q, want %q", c.name, c.d, c.shape, got, c.want)
		}
	}
}
