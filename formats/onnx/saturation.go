package onnx

import (
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/formats/onnx/internal/qdq"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Processors without VNNI multiply u8 by i8 with an instruction that adds pairs of products
// in 16 bits and saturates. On these processors other runtimes give different answers. In
// bnctl sums are exact.

// mostPair is the maximum sum of two weights with the same sign that cannot saturate: 255 times one
// more exceeds 16 bits.
const mostPair = 128

// countSaturating names the layers with u8 feature maps and i8 weights in which products
// may saturate in other runtimes.
func (r examination) countSaturating() {
	made, layers, names := map[string]*onnxpb.NodeProto{}, 0, []string(nil)
	for _, n := range r.src.Node {
		for _, name := range n.Output {
			made[name] = n
		}
		weight, maps, last := r.byteOperands(n, made)
		w, ok, err := r.operand(weight)
		if weight == "" || !ok || err != nil || !w.IsConstant() || w.Tensor.DType != tensor.I8 ||
			len(w.Tensor.Shape) < 2 {
			continue
		}
		if layers++; maps == tensor.U8 && pairSaturates(w.Tensor, last) {
			names = append(names, nodeName(n))
		}
	}
	if len(names) == 0 {
		return
	}
	const most = 4
	list := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	r.file.Count("saturates elsewhere", fmt.Sprintf("%d of %s (%s): two weights of a channel are more than %d "+
		"together, so that 255 times both leaves 16 bits on processors without VNNI; sums are exact here; "+
		"for elsewhere quantise with reduce_range, or with weights of u8", len(names),
		problem.Plural(layers, "layer"), list, mostPair))
}

// byteOperands returns the name of a layer's weight of integers, the type of the integers
// of its feature maps, and whether the outputs are the last axis of the weight. The name is
// "" for other nodes.
func (r examination) byteOperands(n *onnxpb.NodeProto, made map[string]*onnxpb.NodeProto) (weight string,
	maps tensor.DType, last bool) {
	in := func(of *onnxpb.NodeProto, i int) string {
		if of == nil || i >= len(of.Input) {
			return ""
		}
		return of.Input[i]
	}
	dequantised := func(i int) *onnxpb.NodeProto {
		if of := made[in(n, i)]; of != nil && of.OpType == "DequantizeLinear" {
			return of
		}
		return nil
	}
	turned := (&node.Node{Proto: n}).Int("transB", 0) == 0
	switch strings.TrimPrefix(decode.Operator(n), qdq.Domain+".") {
	case "QLinearConv":
		return in(n, 3), r.kindNamed(in(n, 2)), false
	case "QLinearMatMul":
		return in(n, 3), r.kindNamed(in(n, 2)), true
	case microsoft + "QGemm", "QGemm":
		return in(n, 3), r.kindNamed(in(n, 2)), turned
	case "ConvInteger":
		return in(n, 1), r.kindNamed(in(n, 2)), false
	case "MatMulInteger":
		return in(n, 1), r.kindNamed(in(n, 2)), true
	case "Conv":
		return in(dequantised(1), 0), r.kindNamed(in(dequantised(0), 2)), false
	case "Gemm":
		return in(dequantised(1), 0), r.kindNamed(in(dequantised(0), 2)), turned
	case "MatMul":
		return in(dequantised(1), 0), r.kindNamed(in(dequantised(0), 2)), true
	}
	return "", 0, false
}

// kindNamed returns the type of a zero point. It is u8 if the zero point is not a constant.
func (r examination) kindNamed(name string) tensor.DType {
	if x, ok, err := r.operand(name); ok && err == nil && x.IsConstant() {
		return x.Tensor.DType
	}
	return tensor.U8
}

// pairSaturates reports whether a channel has two weights of the same sign with a sum above mostPair.
func pairSaturates(w tensor.Tensor, last bool) bool {
	outputs, stride, step := w.Shape[0], w.Count()/w.Shape[0], 1
	if last {
		outputs = w.Shape[len(w.Shape)-1]
		stride, step = 1, outputs
	}
	v := tensor.View[int8](w)
	for o := range outputs {
		var high, low [2]int
		for k := range len(v) / outputs {
			x := int(v[o*stride+k*step])
			if x > high[1] {
				high = [2]int{max(high[0], x), min(high[0], x)}
			}
			if x < low[1] {
				low = [2]int{min(low[0], x), max(low[0], x)}
			}
		}
		if high[0]+high[1] > mostPair || low[0]+low[1] < -mostPair {
			return true
		}
	}
	return false
}
