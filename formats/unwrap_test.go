package formats

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// named returns a file of scalars with these names.
func named(names ...string) *File {
	f := &File{}
	for _, n := range names {
		f.Tensors = append(f.Tensors, InMemory(n, tensor.Scalar[float32](1)))
	}
	return f
}

func namesOf(f *File) string {
	var out []string
	for _, t := range f.Tensors {
		out = append(out, t.Name)
	}
	return strings.Join(out, " ")
}

// TestUnwrapAverage reports that the statistics stored with an average are stale.
func TestUnwrapAverage(t *testing.T) {
	f := named("n_averaged", "module.a.w")
	unwrap(f)
	if len(f.Left) != 1 || f.Left[0].Name != "n_averaged" || f.Left[0].Bytes != 4 || f.Left[0].Tensors != 1 {
		t.Errorf("left out %+v", f.Left)
	}
	if len(f.Findings) != 1 || !strings.Contains(f.Findings[0].Text, "the running statistics are stale") {
		t.Errorf("findings %+v", f.Findings)
	}
}

// TestUnwrapListsSome removes all wrappers but lists only the first ones; a model with a
// wrapper around each layer has hundreds.
func TestUnwrapListsSome(t *testing.T) {
	var names []string
	for i := range maxWrappers + 3 {
		names = append(names, fmt.Sprintf("l%d._orig_mod.w", i))
	}
	f := named(names...)
	unwrap(f)
	if len(f.Wrappers) != maxWrappers || strings.Contains(namesOf(f), "_orig_mod") {
		t.Errorf("%d wrappers listed, want %d; names %s", len(f.Wrappers), maxWrappers, namesOf(f))
	}
}

// TestUnwrapKeepsNamesApart keeps a name if another tensor already has the shorter one.
func TestUnwrapKeepsNamesApart(t *testing.T) {
	f := named("criterion.weight", "module.criterion.weight", "module.a.w")
	unwrap(f)
	seen := map[string]bool{}
	for _, x := range f.Tensors {
		if seen[x.Name] {
			t.Errorf("two tensors are called %s: %s", x.Name, namesOf(f))
		}
		seen[x.Name] = true
	}
}

func TestUnwrap(t *testing.T) {
	for _, c := range []struct{ in, want, wrappers string }{
		{"a.w b.w", "a.w b.w", "[]"},
		{"module.a.w module.b.w", "a.w b.w", "[module.]"},
		{"module.module.a.w", "a.w", "[module. module.module.]"},
		{"_orig_mod.module.a.w", "a.w", "[_orig_mod. _orig_mod.module.]"},
		{"module._orig_mod.a.w module._orig_mod.b", "a.w b", "[module. module._orig_mod.]"},
		{"features.module.0.w features.module.1.w head.w", "features.0.w features.1.w head.w",
			"[features.module.]"},
		{"module.features.module.0.w module.head.w", "features.0.w head.w", "[module. module.features.module.]"},
		{"module.a.w b.w", "module.a.w b.w", "[]"},                             // a layer named module
		{"x.module.a x.other", "x.module.a x.other", "[]"},                     // a sibling
		{"x.module x.module.a", "x.module x.a", "[x.module.]"},                 // a tensor and a wrapper of one name
		{"x.module", "x.module", "[]"},                                         // a tensor named module
		{"n_averaged module.a.w module.b.w", "a.w b.w", "[module.]"},           // AveragedModel
		{"n_averaged module.module.a", "a", "[module. module.module.]"},        // AveragedModel of a DataParallel
		{"n_averaged a.w", "n_averaged a.w", "[]"},                             // not an averaged model
		{"modules.a modules.b", "modules.a modules.b", "[]"},                   // only the whole word
		{"module.module module.b", "module b", "[module.]"},                    // a tensor inside
		{"m.n_averaged m.module.a", "m.a", "[m.module.]"},                      // an averaged part
		{"_fsdp_wrapped_module.a.w", "a.w", "[_fsdp_wrapped_module.]"},         // FSDP, full state dict
		{"module.n_averaged module.module.a", "a", "[module. module.module.]"}, // DataParallel of an average
	} {
		f := named(strings.Fields(c.in)...)
		unwrap(f)
		if got := namesOf(f); got != c.want || fmt.Sprint(f.Wrappers) != c.wrappers {
			t.Errorf("%s: got %s %v, want %s %s", c.in, got, f.Wrappers, c.want, c.wrappers)
		}
		again := named(strings.Fields(c.want)...)
		if unwrap(again); namesOf(again) != c.want {
			t.Errorf("%s is not a fixpoint: %s", c.want, namesOf(again))
		}
	}
}
