package graph

import "github.com/bnctl/bnctl/tensor"

// Cost is work in floating-point operations and memory traffic in bytes. One
// part grows with the rows; the other does not depend on their number. A
// multiply-add counts as 2; every addition, comparison and elementary function
// as 1. Bytes are operands read plus results written, as if there were no cache.
type Cost struct {
	RowFlops, RowBytes float64 // per row
	Flops, Bytes       float64 // for a run; replica values count for one replica
}

// At returns the work and the traffic of a run with that number of rows.
func (c Cost) At(rows int) (flops, bytes float64) {
	return c.Flops + float64(rows)*c.RowFlops, c.Bytes + float64(rows)*c.RowBytes
}

// Cost returns the cost of a checked node of f.
func (f *Function) Cost(n *Node) Cost {
	var c Cost
	for _, values := range [][]Value{n.In, n.Out} {
		for _, v := range values {
			if v == None {
				continue
			}
			t := f.Values[v].Type
			if bytes := float64(t.elements()) * float64(t.DType.Size()); t.Kind == Rows {
				c.RowBytes += bytes
			} else {
				c.Bytes += bytes
			}
		}
	}
	if c.RowBytes > 0 {
		c.RowFlops = f.work(n)
	} else {
		c.Flops = f.work(n)
	}
	return c
}

// TotalCost returns the sum of the costs of all nodes of a checked function.
func (f *Function) TotalCost() Cost {
	var sum Cost
	for i := range f.Nodes {
		c := f.Cost(&f.Nodes[i])
		sum.RowFlops += c.RowFlops
		sum.RowBytes += c.RowBytes
		sum.Flops += c.Flops
		sum.Bytes += c.Bytes
	}
	return sum
}

func (t Type) elements() int { return tensor.Count(t.Shape) }

// work returns the operations of n, per row if it has rows.
func (f *Function) work(n *Node) float64 {
	switch n.Op {
	case Conv, ConvGradInput, ConvTranspose, ConvInt8:
		return f.product(n) + f.biasWork(n)
	case ConvGradWeight:
		// Every element of dy is multiplied with every element of a kernel once.
		return 2 * f.size(n.In[1]) * f.size(n.Out[0]) / float64(f.Values[n.Out[0]].Type.Shape[0])
	case Dense, DenseInt8:
		return 2*f.size(n.In[1])*f.lines(n.In[0]) + f.biasWork(n)
	case DenseGradInput:
		return 2 * f.size(n.In[1]) * f.lines(n.In[0])
	case DenseGradWeight:
		return 2 * f.size(n.Out[0]) * f.lines(n.In[0])
	case MatMul:
		a, k := f.Values[n.In[0]].Type.Shape, 1
		if n.Bool("transpose_a") {
			k = 2
		}
		return 2 * f.size(n.Out[0]) * float64(a[len(a)-k])
	case MaxPool, AvgPool, MaxPoolInt8, AvgPoolInt8:
		return f.size(n.Out[0]) * window(n)
	case MaxPoolGrad:
		return f.size(n.In[1]) * window(n)
	case AvgPoolGrad:
		return f.size(n.In[0]) * window(n)
	}
	return perElement(n.Op) * f.largest(n)
}

// product returns the work of a convolution-like product. Every element on the side of the kernel's first
// axis is multiplied with every element of one kernel.
func (f *Function) product(n *Node) float64 {
	k := f.Values[n.In[1]].Type
	side := n.In[0]
	if n.Op == Conv || n.Op == ConvInt8 {
		side = n.Out[0]
	}
	return 2 * f.size(side) * f.size(n.In[1]) / float64(k.Shape[0])
}

func (f *Function) biasWork(n *Node) float64 {
	if len(n.In) < 3 {
		return 0
	}
	return f.size(n.Out[0])
}

// lines returns the number of rows of the matrix in a value: the product of all axes but the last one. The
// matrix is multiplied along its last axis.
func (f *Function) lines(v Value) float64 {
	s := f.Values[v].Type.Shape
	return f.size(v) / float64(s[len(s)-1])
}

func (f *Function) size(v Value) float64 { return float64(f.Values[v].Type.elements()) }

func window(n *Node) float64 {
	k := n.Ints("kernel")
	return float64(k[0]) * float64(k[1])
}

// largest returns the elements of n's largest operand or result.
func (f *Function) largest(n *Node) float64 {
	most := 0.0
	for _, values := range [][]Value{n.In, n.Out} {
		for _, v := range values {
			if v != None {
				most = max(most, f.size(v))
			}
		}
	}
	return most
}

// perElement returns the number of floating-point operations of o for each element, counted from its
// definition. Everything that is computed once per channel counts as one factor.
func perElement(o Op) float64 {
	switch o {
	case Concat, Slice, SliceGrad, Pad, Reshape, Transpose, Take, BroadcastTo, Split, Gather, Track,
		ConcatInt8, PadInt8:
		return 0
	case Image, Normalise, BatchNorm, Affine, Clip, Relu6, Dropout, Quantize, Dequantize:
		return 2
	case Moments, NormaliseGradSums, Silu, Softplus, Sigmoid, HardSigmoid, EMA, Mish:
		return 3
	case NormaliseGradInput, HardSwish, SoftmaxGrad, LogSoftmaxGrad, SGD:
		return 4
	case Softmax, LogSoftmax, SoftmaxXent, SoftmaxXentGrad, LARS, LayerNorm, GroupNorm, Gelu, AddInt8, MulInt8:
		return 5
	case Upsample, UpsampleGrad, LayerNormGrad, GroupNormGrad:
		return 7
	case GeluTanh:
		return 9
	case AdamW:
		return 14
	case Detect:
		return 40 // for predictions in SSDForm, most of the work is to compute scores
	case Pow:
		return 90
	}
	return 1
}
