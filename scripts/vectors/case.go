package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/spec"
)

// testCase describes a golden vector before its results are computed.
type testCase struct {
	name, description string
	operands          []operand
	nodes             []node
	replicas          []int // number of rows of each replica
}

// node is an operation of a case. Its operands are the next operands of the case. If it is not the first
// node, its first operand is the result of the previous node.
type node struct {
	op       graph.Op
	attrs    []any // keys and values alternately
	operands int   // number of operands of the case that the node uses
}

// usual and many are numbers of rows for the replicas of a case.
var (
	usual = []int{2, 0, 1}
	many  = []int{1, 2, 0, 1, 3}
)

// one returns a case with a single operation.
func one(op graph.Op, description string, attrs []any, in ...operand) testCase {
	return testCase{name: fileName(description), description: description, operands: in, nodes: []node{{op,
		attrs, len(in)}},
		replicas: usual}
}

// fileName converts a description to a part of a file name.
func fileName(description string) string {
	words := strings.FieldsFunc(strings.ToLower(description), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return strings.Join(words, "-")
}

// of returns the case with other numbers of rows for its replicas.
func (c testCase) of(replicas []int) testCase { c.replicas = replicas; return c }

// with returns the case with other values: usual fills its inputs, and state its state tensors. values
// describes them in the name of the case.
func (c testCase) with(values string, usual, state filler) testCase {
	c.description += ", " + values
	c.name = fileName(c.description)
	c.operands = slices.Clone(c.operands)
	for i := range c.operands {
		switch {
		case c.operands[i].fill == nil || len(c.operands[i].typ.Shape) == 0 &&
			c.operands[i].typ.Kind == graph.Whole:
		case c.operands[i].isState():
			c.operands[i].fill = state
		default:
			c.operands[i].fill = usual
		}
	}
	return c
}

// thrice returns three versions of a case: with normal values, with awkward finite values, and with some
// values that are not finite.
func thrice(c testCase) []testCase {
	return []testCase{c, c.with("zeros and subnormals", awkward, awkward),
		c.with("infinities and NaN", special, lonely)}
}

// rows returns the number of rows of all replicas together.
func (c testCase) rows() int {
	n := 0
	for _, r := range c.replicas {
		n += r
	}
	return n
}

// class returns the kernel class of the case.
func (c testCase) class() string {
	op := c.nodes[0].op
	bytes := slices.ContainsFunc(c.operands, func(o operand) bool { return o.typ.DType.String() == "u8" })
	if op >= graph.Quantize && op <= graph.QuantizeWeight || bytes && op != graph.Image {
		return "int8/1"
	}
	return "fma/1"
}

// valueNames has the names of the operands and results of those operations where they are not x and y.
var valueNames = map[graph.Op]string{
	graph.Conv: "x weight bias = y", graph.ConvGradInput: "dy weight = dx",
	graph.ConvGradWeight: "x dy = dweight",
	graph.ConvTranspose:  "x weight bias = y", graph.Dense: "x weight bias = y",
	graph.DenseGradInput: "dy weight = dx", graph.DenseGradWeight: "x dy = dweight", graph.MatMul: "a b = y",
	graph.Moments: "x = m", graph.RunningMoments: "mean variance = m",
	graph.SelectMoments: "m running = selected",
	graph.Normalise:     "x m gamma beta = y", graph.NormaliseGradSums: "x dy m = sums",
	graph.NormaliseGradInput: "x dy m sums gamma = dx", graph.NormaliseGradParams: "m sums = dgamma dbeta",
	graph.BatchNorm: "x gamma beta mean variance = y", graph.ActivationGrad: "saved dy = dx",
	graph.Prelu: "x slope = y", graph.PreluGradInput: "x slope dy = dx", graph.PreluGradSlope: "x dy = dslope",
	graph.SoftmaxGrad: "y dy = dx", graph.LogSoftmaxGrad: "y dy = dx", graph.MaxPoolGrad: "x dy = dx",
	graph.AvgPoolGrad: "dy = dx", graph.GlobalAvgPoolGrad: "dy = dx", graph.SliceGrad: "dy = dx",
	graph.UpsampleGrad: "dy = dx", graph.TakeGrad: "dy = dx", graph.Dropout: "x ident = y",
	graph.SoftmaxXent:     "logits labels weight = loss",
	graph.SoftmaxXentGrad: "logits labels inverse weight = dlogits",
	graph.Correct:         "logits labels = counts", graph.SGD: "w g v lr = w1 v1",
	graph.AdamW: "w g m v lr step root = w1 m1 v1",
	graph.LARS:  "w g v lr ratio = w1 v1", graph.EMA: "average w = average1",
	graph.TrustRatio: "weight gradient = ratio",
	graph.Where:      "condition x y = z",
	graph.LayerNorm:  "x scale bias = y", graph.GroupNorm: "x scale bias = y",
	graph.LayerNormGrad: "x dy = dx", graph.GroupNormGrad: "x dy = dx",
	graph.ConvInt8: "x weight bias by = y", graph.DenseInt8: "x weight bias by = y", graph.AddInt8: "a b = y",
	graph.MulInt8: "a b = y", graph.TableInt8: "x table = y",
	graph.QuantizeWeight: "w bias = q b by back",
}

// operandName returns the name of operand i of the case.
func (c testCase) operandName(i int) string {
	names, _, ok := strings.Cut(valueNames[c.nodes[0].op], " = ")
	list := strings.Fields(names)
	switch {
	case len(c.nodes) > 1 && i >= c.nodes[0].operands:
		return []string{"gamma", "beta", "mean", "variance"}[i-c.nodes[0].operands]
	case ok && i < len(list):
		return list[i]
	case len(c.operands) == 1:
		return "x"
	}
	return fmt.Sprintf("x%d", i)
}

// resultNames returns the names of the results of an operation.
func resultNames(op graph.Op) []string {
	if _, names, ok := strings.Cut(valueNames[op], " = "); ok {
		return strings.Fields(names)
	}
	return []string{"y"}
}

// addNodes writes the nodes of the case, and the names of their results, into the vector.
func (c testCase) addNodes(v *spec.Vector) {
	at, last := 0, ""
	for i, n := range c.nodes {
		var in []string
		if i > 0 {
			in = append(in, last)
		}
		for range n.operands {
			name := ""
			if c.operands[at].fill != nil {
				name = c.operandName(at)
			}
			in, at = append(in, name), at+1
		}
		out := resultNames(n.op)
		if i < len(c.nodes)-1 {
			out = []string{"product"}
		}
		last = out[0]
		v.Nodes = append(v.Nodes, n.described(in, out))
		if i == len(c.nodes)-1 {
			for _, name := range out {
				v.Results = append(v.Results, spec.Result{Array: spec.Array{Name: name}})
			}
		}
	}
}

// described returns the node in the form that vectors have, with all of its attributes.
func (n node) described(operands, results []string) spec.Node {
	var attrs graph.Attrs
	for i := 0; i < len(n.attrs); i += 2 {
		attrs = attrs.With(n.attrs[i].(string), n.attrs[i+1])
	}
	all := map[string]any{}
	for _, a := range (&graph.Node{Op: n.op, Attrs: attrs}).Attributes() {
		all[a.Key] = listOf(a.Val)
	}
	return spec.Node{Operation: n.op.String(), Number: int(n.op), Attributes: all, In: operands, Out: results}
}

// listOf returns the value of an attribute as it is after encoding and decoding as JSON. An absent list
// becomes an empty one.
func listOf(v any) any {
	list := []any{}
	switch v := v.(type) {
	case []int64:
		for _, x := range v {
			list = append(list, float64(x))
		}
		return list
	case []float64:
		for _, x := range v {
			list = append(list, x)
		}
		return list
	case int64:
		return float64(v)
	}
	return v
}
