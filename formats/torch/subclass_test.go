package torch

import (
	"strings"
	"testing"

	"github.com/bnctl/bnctl/formats/torch/internal/pickle"
)

// TestSubclassesAreNamed: a tensor of a class that assembles it from parts, like torchao's,
// is rejected by the name of the class; a class that only adds methods is read.
func TestSubclassesAreNamed(t *testing.T) {
	of := func(class string) any {
		i := strings.LastIndex(class, ".")
		g := pickle.Global{Module: class[:i], Name: class[i+1:]}
		return &pickle.Call{Func: pickle.Global{Module: "torch._tensor", Name: "_rebuild_from_type_v2"}, Args: pickle.Tuple{
			pickle.Global{Module: "torch._utils", Name: "_rebuild_wrapper_subclass"}, g,
			pickle.Tuple{g, "dtype", pickle.Tuple{}, pickle.Tuple{}, int64(0), "layout", "cpu", false}, nil}}
	}
	for class, want := range map[string]string{
		"torchao.dtypes.affine_quantized_tensor.AffineQuantizedTensor": "a tensor of class torchao.dtypes." +
			"affine_quantized_tensor.AffineQuantizedTensor, which only its own code puts together; save the weights",
		"torch.distributed.tensor.DTensor": "of which each rank has a part; save t.full_tensor()",
	} {
		if _, err := rebuild(of(class)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", class, err, want)
		}
	}
}
