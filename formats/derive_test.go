package formats

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// TestDerivedAsPyTorchComputes reads files made by testdata/derived.py. The script also
// stores the weights that the layers computed with.
func TestDerivedAsPyTorchComputes(t *testing.T) {
	files, err := filepath.Glob("testdata/derived/*.want.pth")
	if err != nil || len(files) < 6 {
		t.Fatal("no goldens: ", files, err)
	}
	// The tolerance is relative to the type's precision, because PyTorch sums norms and
	// products in the type itself.
	tolerance := map[tensor.DType]float64{tensor.F32: 1e-6, tensor.F64: 1e-13, tensor.BF16: 0x1p-8}
	for _, wanted := range files {
		want, err := Open(wanted, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer want.Close()
		got, err := Open(strings.Replace(wanted, ".want", "", 1), Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer got.Close()
		if len(got.Tensors) != len(want.Tensors) || len(got.Left) == 0 || len(got.Findings) != 0 {
			t.Errorf("%s: tensors %s, left out %+v, findings %+v", wanted, namesOf(got), got.Left, got.Findings)
		}
		for _, w := range want.Tensors {
			g, ok := got.Tensor(w.Name)
			if !ok || g.DType != w.DType || !slices.Equal(g.Shape, w.Shape) {
				t.Errorf("%s: %v, want %v", wanted, g, w)
				continue
			}
			if g.DType != tensor.I64 {
				near(t, wanted, g, w, tolerance[g.DType])
			}
		}
	}
}

// near compares the elements of two tensors.
func near(t *testing.T, file string, got, want Tensor, tolerance float64) {
	t.Helper()
	g, err1 := load(got)
	w, err2 := load(want)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	for i := range w {
		if math.Abs(g[i]-w[i]) > tolerance*math.Abs(w[i]) {
			t.Errorf("%s: %v: element %d is %g, PyTorch has %g", file, got, i, g[i], w[i])
			return
		}
	}
}

// of returns a file of f32 tensors of these shapes, filled with 1.
func of(shapes map[string][]int, names ...string) *File {
	f := &File{Format: "pytorch zip"}
	for _, n := range names {
		f.Tensors = append(f.Tensors, InMemory(n, filled(shapes[n], 1)))
	}
	return f
}

// TestWhatIsNotDefinedIsNamed keeps undefined tensors unchanged, and never reports them as
// clean.
func TestWhatIsNotDefinedIsNamed(t *testing.T) {
	for _, c := range []struct{ names, says string }{
		{"a.parametrizations.weight.original a.bias", "a parametrisation"},                                   // torch.matrix_exp, or a function of the user
		{"a.parametrizations.weight.original a.parametrizations.weight.0.base", "(and 1 more such tensors)"}, // orthogonal
		{"a.parametrizations.weight.original a.parametrizations.weight.1._u a.parametrizations.weight.1._v",
			"a parametrisation"},
		{"a.weight_mask a.weight", "a mask of pruning"}, {"a.weight_orig a.bias", "a part of spectral_norm"},
		{"a.weight a.lora_A.weight a.lora_B.weight", "an adapter (LoRA)"},
		{"a.weight a.weight.absmax a.weight.quant_map", "bitsandbytes"}, {"a.qweight a.scales", "GPTQ"},
		{"a._strange_wrapped_module.weight b.weight", "perhaps the name of a wrapper"},
	} {
		f := &File{Format: "safetensors"}
		for _, n := range strings.Fields(c.names) {
			f.Tensors = append(f.Tensors, InMemory(n, filled([]int{2, 3}, 1)))
		}
		if err := clean(f, Options{}); err != nil {
			t.Error(err)
		}
		if namesOf(f) != c.names || len(f.Findings) != 1 || !strings.Contains(f.Findings[0].Text, c.says) {
			t.Errorf("%s: became %s, findings %+v, want %q", c.names, namesOf(f), f.Findings, c.says)
		}
	}
	f := named("_fsdp_wrapped_module._flat_param", "_fsdp_wrapped_module.head.weight")
	if err := clean(f, Options{}); err == nil || !strings.Contains(err.Error(), "FSDP's flat parameter") {
		t.Errorf("a flat parameter: %v", err)
	}
	for ranks, want := range map[string]string{"1": "<nil>", "2": "spread over ranks: mp_world_size is 2"} {
		f := named("a.weight")
		f.Count("mp_world_size", ranks)
		if err := clean(f, Options{}); !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("one of %s ranks: %v", ranks, err)
		}
	}
}

// TestNotReparametrised checks that the name alone does not make a tensor a part of another
// one.
func TestNotReparametrised(t *testing.T) {
	shapes := map[string][]int{"to_g": {2, 1}, "to_v": {2, 3}, "a.weight_g": {2, 3}, "a.weight_v": {2, 3},
		"b.weight_g": {3, 1}, "b.weight_v": {2, 3}, "x_orig": {2}, "x_mask": {3}, "c.weight": {2, 3},
		"c.weight_orig": {2, 3}, "c.weight_mask": {2, 3}}
	for _, names := range []string{"to_g to_v", "a.weight_g a.weight_v", "b.weight_g b.weight_v", "x_orig x_mask",
		"c.weight c.weight_orig c.weight_mask"} {
		f := of(shapes, strings.Fields(names)...)
		if derive(f); namesOf(f) != names {
			t.Errorf("%s became %s", names, namesOf(f))
		}
	}
}

// TestLeftByPrograms checks that tensors which thop, quantisation and averages add to a
// model are left out and reported.
func TestLeftByPrograms(t *testing.T) {
	for _, c := range []struct{ in, want, left string }{
		{"total_ops total_params a.w a.total_ops", "a.w", "total_ops and 2 more: a counter of thop"},
		{"a.w a.activation_post_process.min_val a.weight_fake_quant.scale", "a.w",
			"a.activation_post_process.min_val and 1 more: a range observed for quantisation"},
		{"a.w a._extra_state", "a.w", "a._extra_state: extra state of a layer, for its own code"},
		{"bb.conv.w ema_bb_conv_w", "bb.conv.w", "ema_bb_conv_w: average of the weights"},
		{"model.bb.conv.w model_ema.bbconvw model_ema.decay", "model.bb.conv.w",
			"model_ema.bbconvw: average of the weights model_ema.decay: a counter of averages"},
		{"online_model.a.w ema_model.a.w initted step", "online_model.a.w",
			"ema_model.a.w: average of the weights initted and 1 more: a counter of averages"},
		{"ema_net.a.w b.w", "ema_net.a.w b.w", ""}, // the averaged tensor is absent
		{"steps module.a.w", "a.w", "steps: counter of an averaged model"},
	} {
		f := named(strings.Fields(c.in)...)
		f.Format = "pytorch zip"
		if err := clean(f, Options{}); err != nil {
			t.Error(err)
		}
		var left []string
		for _, g := range f.Left {
			left = append(left, g.Name+": "+g.Reason)
		}
		if namesOf(f) != c.want || strings.Join(left, " ") != c.left {
			t.Errorf("%s: became %s, left out %s; want %s and %s", c.in, namesOf(f), strings.Join(left, " "), c.want, c.left)
		}
	}
}

// TestWrappersInAnyOrder removes two wrappers that are nested in either order.
func TestWrappersInAnyOrder(t *testing.T) {
	for _, a := range wrapperNames {
		for _, b := range wrapperNames {
			f := named(fmt.Sprintf("%s.%s.layer1.%s.conv.weight", a, b, b), fmt.Sprintf("%s.%s.fc.%s.weight", a, b, a))
			if unwrap(f); namesOf(f) != "layer1.conv.weight fc.weight" {
				t.Errorf("%s around %s: %s", a, b, namesOf(f))
			}
		}
	}
	shapes := map[string][]int{"module.l._checkpoint_wrapped_module.c.weight_orig": {2, 3},
		"module.l._checkpoint_wrapped_module.c.weight_mask": {2, 3},
		"module.l._checkpoint_wrapped_module.c.bias":        {2}, "module.f._orig_mod.parametrizations.weight.original0": {2, 1},
		"module.f._orig_mod.parametrizations.weight.original1": {2, 3}}
	f := of(shapes, "module.l._checkpoint_wrapped_module.c.weight_orig",
		"module.l._checkpoint_wrapped_module.c.weight_mask", "module.l._checkpoint_wrapped_module.c.bias",
		"module.f._orig_mod.parametrizations.weight.original0", "module.f._orig_mod.parametrizations.weight.original1")
	if err := clean(f, Options{Drop: []string{"l.c.bias"}}); err != nil || namesOf(f) != "l.c.weight f.weight" {
		t.Errorf("wrapped and reparametrised: %s, %v", namesOf(f), err)
	}
}

// TestHalves checks the rounding to the nearest float16 and bfloat16, with values halfway
// between two neighbours.
func TestHalves(t *testing.T) {
	for v, want := range map[float64]uint16{0: 0, 1: 0x3c00, -2: 0xc000, 65504: 0x7bff, 65519: 0x7bff,
		65520:   0x7c00,
		0x1p-24: 1, 0x1p-25: 0, 0x1.8p-24: 2, 0x1p-14: 0x400, 0x1.ff8p-15: 0x3ff, 0x1.ffcp-15: 0x400,
		1 + 0x1p-11: 0x3c00, 1 + 0x3p-11: 0x3c02,
		math.Inf(-1): 0xfc00, 2047.5: 0x6800} {
		if got := half(v); got != want {
			t.Errorf("float16 of %g: %#x, want %#x", v, got, want)
		}
	}
	for v, want := range map[float32]uint16{1: 0x3f80, -1: 0xbf80, 1 + 0x1p-8: 0x3f80, 1 + 0x3p-8: 0x3f82,
		3e38: 0x7f62} {
		if got := brain(v); got != want {
			t.Errorf("bfloat16 of %g: %#x, want %#x", v, got, want)
		}
	}
}
