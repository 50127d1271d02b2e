package onnx

import (
	"regexp"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
)

// Modules of PyTorch may share a parameter, as in decoder.weight = embedding.weight. The state dict has
// the parameter under both names. The file has it under the first name only. If the module that reads
// it is a layer, the path of this module gives the second name.

// repeated matches the suffix that PyTorch adds to a step of a path when a module is
// called again.
var repeated = regexp.MustCompile(`_[0-9]+(\.|$)`)

// layers are the operators of modules that are layers, in the order of the file.
var layers = []string{"Gemm", "Transpose MatMul", "Transpose MatMul Add", "MatMul", "MatMul Add", "Conv",
	"ConvTranspose", "PRelu", "Gather", "LayerNormalization", "BatchNormalization"}

// nameShared finds the second names of parameters that modules share.
func (r naming) nameShared() {
	modules := r.modules()
	for _, n := range r.src.Node {
		path := modulePath(n.Name)
		for _, in := range n.Input {
			name := r.originOf(in).name
			if path != "" && r.initial[name] && isParameterName(name) {
				r.nameSharedBy(path, name, modules)
			}
		}
	}
}

// modules returns the operators of each module, by its path.
func (r naming) modules() map[string]string {
	all := map[string]string{}
	for _, n := range r.src.Node {
		if op := decode.Operator(n); op != "Constant" && op != "Identity" {
			path := modulePath(n.Name)
			all[path] = strings.TrimSpace(all[path] + " " + op)
		}
	}
	return all
}

// nameSharedBy adds the name under which the module at path has the parameter name of another module.
// Either both modules have the same operators, or the module at path is a layer.
func (r naming) nameSharedBy(path, name string, modules map[string]string) {
	last := strings.LastIndexByte(name, '.')
	if last < 0 {
		return
	}
	owner, second := name[:last], path+name[last:]
	first := repeated.ReplaceAllString(path, "$1")
	switch {
	case isWithin(path, owner) || isWithin(first, owner): // a parameter of the module itself
	case first != path && modules[first] != "": // the module was called again
	case modules[path] != modules[owner] && !slices.Contains(layers, modules[path]):
	case r.initial[second] || slices.Contains(r.aliases[name], second):
	default:
		r.aliases[name] = append(r.aliases[name], second)
	}
}

// isWithin reports whether one of two modules is the other, or is in it.
func isWithin(a, b string) bool {
	return strings.HasPrefix(a+".", b+".") || strings.HasPrefix(b+".", a+".")
}
