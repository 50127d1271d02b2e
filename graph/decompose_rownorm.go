package graph

import "github.com/bnctl/bnctl/tensor"

// normed returns (x - mean)/std of x over axes, std being sqrt(variance + eps), and std.
func (r *rewriter) normed(x Value, axes []int) (normed, std Value) {
	mean := r.op(ReduceMean, "mean", []Value{x}, "axes", axes, "keep", true)
	centred := r.op(Sub, "centred", []Value{x, mean})
	squares := r.op(Mul, "squares", []Value{centred, centred})
	variance := r.op(ReduceMean, "variance", []Value{squares}, "axes", axes, "keep", true)
	std = r.op(Sqrt, "std", []Value{r.op(Affine, "eps", []Value{variance}, "add", r.node.Float("eps"))})
	return r.op(Div, "normed", []Value{centred, std}), std
}

// normGradient returns (dy - mean(dy) - normed*mean(dy*normed))/std.
func (r *rewriter) normGradient(x, dy Value, axes []int) Value {
	normed, std := r.normed(x, axes)
	shift := r.op(ReduceMean, "shift", []Value{dy}, "axes", axes, "keep", true)
	products := r.op(Mul, "products", []Value{dy, normed})
	slope := r.op(ReduceMean, "slope", []Value{products}, "axes", axes, "keep", true)
	d := r.op(Sub, "shifted", []Value{dy, shift})
	d = r.op(Sub, "difference", []Value{d, r.op(Mul, "part", []Value{normed, slope})})
	return r.op(Div, "gradient", []Value{d, std})
}

// scaled multiplies v, which has the rank of the node's operand, by scale and adds bias. scale and bias have
// the lengths of the axes before axis end.
func (r *rewriter) scaled(v Value, end int) {
	for i, op := range []Op{Mul, Add} {
		w := r.in(1 + i)
		if w == None {
			continue
		}
		shape := append([]int(nil), r.Builder.Type(w).Shape...)
		for range len(r.Builder.Type(v).Shape) - end {
			shape = append(shape, 1)
		}
		w = r.op(Reshape, "all", []Value{w}, "shape", shape)
		v = r.op(op, "affine", []Value{v, w})
	}
	r.done(v)
}

func decomposeLayerNorm(r *rewriter) {
	axes := r.node.Ints("axes")
	normed, _ := r.normed(r.in(0), axes)
	r.scaled(normed, axes[0]+len(axes))
}

func decomposeLayerNormGrad(r *rewriter) {
	r.done(r.normGradient(r.in(0), r.in(1), r.node.Ints("axes")))
}

// grouped returns operand i in the shape [groups, elements].
func (r *rewriter) grouped(i int) Value {
	groups := r.node.Int("groups")
	shape := []int{groups, tensor.Count(r.Builder.Type(r.in(i)).Shape) / groups}
	return r.op(Reshape, "groups", []Value{r.in(i)}, "shape", shape)
}

// shaped returns v in the shape of operand 0.
func (r *rewriter) shaped(v Value) Value {
	return r.op(Reshape, "shaped", []Value{v}, "shape", r.Builder.Type(r.in(0)).Shape)
}

func decomposeGroupNorm(r *rewriter) {
	normed, _ := r.normed(r.grouped(0), []int{1})
	r.scaled(r.shaped(normed), 1)
}

func decomposeGroupNormGrad(r *rewriter) {
	r.done(r.shaped(r.normGradient(r.grouped(0), r.grouped(1), []int{1})))
}
