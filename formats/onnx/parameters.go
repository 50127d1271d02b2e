package onnx

import (
	"regexp"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// A file does not record which tensors are trained. Layers name their weights. Another constant is
// trained if it has the name of a module's parameter. In a file without the names of modules it is
// trained if it is used like a parameter: as a factor of each channel, a position that is added, or a
// token that is concatenated. Buffers are recognised by their names.

// use is a node's use of a constant.
type use int

const (
	added  use = iota // added to a value, or subtracted
	factor            // multiplied with a value, or divided by
	joined            // concatenated, or selected instead of other elements
)

var parameterName = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)

// isParameterName reports whether a name is a name in the state_dict of a PyTorch module.
func isParameterName(name string) bool {
	return parameterName.MatchString(name) && strings.ContainsFunc(name, func(r rune) bool { return r > '9' })
}

// bufferName matches the last part of a buffer's name.
var bufferName = regexp.MustCompile(`^(.*_)?(mean|std|stdev|variance|anchors?|anchor_grid|grids?|strides?|` +
	`masks?|freqs?|freqs_cis|frequencies|sin|cos|sin_cached|cos_cached|index|indices|ids|window|filt|` +
	`filters?|blur|gauss|gaussian|sobel|laplacian|dct|mel|running_mean|running_var|num_batches_tracked)$`)

// inputName matches the last part of the name of a constant that prepares the input.
var inputName = regexp.MustCompile(`^(.*_)?(scale|shift|offset|range|min|max|div|sub|factor)$`)

// isBufferName reports whether a name is the name of a buffer of a PyTorch module.
func isBufferName(name string) bool {
	return isParameterName(name) && bufferName.MatchString(lastPart(name))
}

func lastPart(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// isBuffer reports whether a tensor that a layer uses as a weight is a buffer: by its name, or because
// it is computed from buffers.
func (r *reader) isBuffer(name string, role graph.Role) bool {
	return role.Trained() && r.sourceOf(name) == fromBuffers
}

// isParameter reports whether operand i is an initializer of floats with the name of a parameter.
func (c *call) isParameter(i int) bool {
	name := c.originOf(c.Proto.Input[i]).name
	named := c.fromTorch || strings.Contains(name, ".") && c.In[i].Tensor.Count() > 1
	return c.initial[name] && named && isParameterName(name) && element.IsFloat(c.In[i].Tensor.DType) &&
		!isBufferName(name) && !(c.atInput() && inputName.MatchString(lastPart(name)))
}

// isPrepared reports whether x is the input, unchanged or prepared by constants.
func isPrepared(x node.Value) bool { return !x.IsConstant() && (x.Prepared || x.Op == "") }

// atInput reports whether an operand is the input, unchanged or with constants added and multiplied.
func (c *call) atInput() bool {
	return slices.ContainsFunc(c.In, isPrepared)
}

// prepares reports whether the result of a node is still the input, prepared by constants.
func (c *call) prepares(op string) bool {
	return table[op].traits.has(preparesInput) && !slices.ContainsFunc(c.In, func(x node.Value) bool {
		return !x.IsConstant() && !isPrepared(x)
	})
}

// learned returns the role of operand i, a constant that is not the weight or bias
// of a layer.
func (c *call) learned(i int, u use) graph.Role {
	if !c.isParameter(i) && !c.marked(i, u) {
		c.doubt(i)
		return graph.Constant
	}
	if u == factor {
		return graph.Gamma
	}
	return graph.Bias
}

// marked reports whether operand i is an initializer without a module's name that is used
// like a parameter.
func (c *call) marked(i int, u use) bool {
	name, t := c.originOf(c.Proto.Input[i]).name, c.In[i].Tensor
	if !c.initial[name] || isParameterName(name) || !element.IsFloat(t.DType) || t.Count() < 2 || c.atInput() {
		return false
	}
	long := slices.DeleteFunc(slices.Clone(t.Shape), func(n int) bool { return n == 1 })
	switch u {
	case factor:
		return len(long) == 1
	case added:
		return !isMask(t)
	}
	return !isUniform(t)
}

func isUniform(t tensor.Tensor) bool {
	at, err := element.Reals(t)
	for k := range t.Count() {
		if err != nil || at(k) != at(0) {
			return false
		}
	}
	return true
}

// isMask reports whether a constant of several elements hides positions: its elements are 0 or one
// large negative number.
func isMask(t tensor.Tensor) bool {
	at, err := element.Reals(t)
	least := 0.0
	for k := range t.Count() {
		if err != nil {
			return false
		}
		least = min(least, at(k))
	}
	for k := range t.Count() {
		if at(k) != 0 && at(k) != least {
			return false
		}
	}
	return least <= -50
}

// roleInState returns the role of a tensor that the model already stores, or Constant if it
// does not store the tensor.
func (r *reader) roleInState(label string) graph.Role {
	for _, s := range r.table {
		if s.Name == label {
			return s.Role
		}
	}
	return graph.Constant
}

// isUnnamed reports whether a tensor of the state has no name in a state dict: a constant that is not
// an initializer, or one that PyTorch numbered.
func (r *reader) isUnnamed(name string, s graph.State) bool {
	return s.Role == graph.Constant && (!r.initial[name] || r.fromTorch && !isParameterName(name))
}
