package formats

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/tensor"
)

// A derivation computes a tensor of a layer from the tensors that a reparametrisation
// stores in its place.
type derivation struct {
	name    string   // name of the derived tensor
	sources []Tensor // tensors that it replaces
	kind    string   // "pruned: weight_orig * weight_mask"
	value   func() (numbers, error)
	plain   *Tensor // the derived tensor, if the file has it too
	target  string  // tensor of the file that the result replaces; "": the first of sources
}

// maxDerived is the number of nested reparametrisations of one tensor that are resolved:
// for example pruning of weight_norm's tensors.
const maxDerived = 8

// derive resolves the reparametrisations that torch.nn.utils and torch.nn.utils.parametrize
// leave in a state dict: a pruned weight is weight_orig * weight_mask, a weight under
// weight_norm is weight_g * weight_v / |weight_v|, and a weight under spectral_norm is
// weight_orig / sigma. Reparametrisations that the file does not define are reported, and
// their tensors are kept.
func derive(f *File) {
	if f.Model != nil || !mereTensors(f.Format) {
		return // the tensors already have the graph's names
	}
	done := map[string][]derivation{}
	var order []string
	for range maxDerived {
		all := derivations(f)
		if len(all) == 0 {
			break
		}
		for _, d := range all {
			if done[d.kind] == nil {
				order = append(order, d.kind)
			}
			done[d.kind] = append(done[d.kind], d)
		}
		replace(f, all)
	}
	for _, how := range order {
		f.Left = append(f.Left, replaced(how, done[how]))
	}
	nameUndefined(f)
}

// derivations returns the derivations that are possible with the present tensors of f, in
// the order of the file. A result of one derivation may make another one possible.
func derivations(f *File) []derivation {
	have := make(map[string]Tensor, len(f.Tensors))
	for _, t := range f.Tensors {
		have[t.Name] = t
	}
	groups := parametrised(f)
	var all []derivation
	for _, t := range f.Tensors {
		d, ok := derivationOf(t, have, groups)
		if _, taken := have[d.name]; ok && (!taken || d.plain != nil) {
			all = append(all, d)
		}
	}
	return all
}

// derivationOf returns the derivation with t as its first tensor.
func derivationOf(t Tensor, have map[string]Tensor, groups map[string]*parametrisation) (derivation, bool) {
	if g := groups[t.Name]; g != nil {
		return g.derivation()
	}
	if name, ok := strings.CutSuffix(t.Name, "_orig"); ok && name != "" {
		return ofOriginal(name, t, have)
	}
	if name, ok := strings.CutSuffix(t.Name, "_g"); ok && hookedName(name) {
		if v, ok := have[name+"_v"]; ok && fitsNorm(t, v) {
			return weightNorm(name, t, v), true
		}
	}
	return derivation{}, false
}

// ofOriginal resolves NAME_orig, of pruning or of spectral_norm.
func ofOriginal(name string, orig Tensor, have map[string]Tensor) (derivation, bool) {
	if mask, ok := have[name+"_mask"]; ok && slices.Equal(mask.Shape, orig.Shape) {
		return derivation{name: name, sources: []Tensor{orig, mask}, kind: "pruned: weight_orig * weight_mask",
			value: func() (numbers, error) { return product(orig, mask) }}, true
	}
	u, ok := have[name+"_u"]
	if !ok {
		return derivation{}, false
	}
	v, both := have[name+"_v"]
	weight, saved := have[name]
	if saved && slices.Equal(weight.Shape, orig.Shape) { // PyTorch before 1.0 saved the weight too
		from := []Tensor{weight, orig, u}
		if both {
			from = append(from, v)
		}
		return derivation{name: name, sources: from,
			kind:  "under spectral_norm, which saved the weight itself as well",
			plain: &weight}, true
	}
	return spectral(name, orig, u, v), both && fitsSpectral(orig, u, v)
}

// hookedName reports whether a tensor has a name that weight_norm can be applied to.
func hookedName(name string) bool {
	last := name[strings.LastIndex(name, ".")+1:]
	return last == "weight" || last == "bias" || last == "in_proj_weight" || hookedLayer().MatchString(last)
}

var hookedLayer = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(weight|bias)_[a-z]+_l[0-9]+(_reverse)?$`)
})

func weightNorm(name string, g, v Tensor) derivation {
	return derivation{name: name, sources: []Tensor{g, v},
		kind:  "under weight_norm: weight_g * weight_v / |weight_v|",
		value: func() (numbers, error) { return normed(g, v) }}
}

func spectral(name string, orig, u, v Tensor) derivation {
	return derivation{name: name, sources: []Tensor{orig, u, v},
		kind:  "under spectral_norm: weight_orig / sigma, where sigma is u * weight_orig * v",
		value: func() (numbers, error) { return bySigma(orig, u, v) }}
}

// replace replaces the source tensors of each derivation by its result.
func replace(f *File, derivations []derivation) {
	gone, made := map[string]bool{}, map[string]Tensor{}
	for _, d := range derivations {
		for _, t := range d.sources {
			gone[t.Name] = true
		}
		made[cmp.Or(d.target, d.sources[0].Name)] = d.tensor()
	}
	var out []Tensor
	for _, t := range f.Tensors {
		if m, ok := made[t.Name]; ok {
			out = append(out, m)
		} else if !gone[t.Name] {
			out = append(out, t)
		}
	}
	f.Tensors = out
}

// tensor returns the derived tensor. Its elements are computed on demand.
func (d derivation) tensor() Tensor {
	if d.plain != nil {
		return *d.plain
	}
	main := d.sources[0]
	if len(d.sources) > 1 && tensor.Count(d.sources[1].Shape) > tensor.Count(main.Shape) {
		main = d.sources[1] // weight_v has the size of the weight
	}
	made, err := foreign.NewTensor(d.name, main.DType, main.Shape, func(dst []byte) error {
		x, err := d.value()
		if err != nil {
			return err
		}
		return x.round(main.DType, dst)
	})
	if err != nil {
		return main.Renamed(d.name) // the shape was checked when the file was read
	}
	return made
}

// replaced returns a Group with the number and the size of the tensors that derivations of
// one kind have replaced.
func replaced(kind string, derivations []derivation) Group {
	g := Group{Name: derivations[0].name, Reason: kind}
	if n := len(derivations) - 1; n > 0 {
		g.Name += fmt.Sprintf(" and %d more", n)
	}
	for _, d := range derivations {
		for _, t := range d.sources {
			g.Tensors, g.Bytes = g.Tensors+1, g.Bytes+int64(t.Size())
		}
	}
	return g
}
