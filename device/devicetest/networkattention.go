package devicetest

import "github.com/bnctl/bnctl/graph"

// Sizes of the attention network: tokens of an image plus a class token, elements of a token,
// and heads.
const (
	tokens  = 5
	width   = 6
	heads   = 2
	ofAHead = width / heads
)

// attention returns a block of a vision transformer, trained by AdamW: patches as tokens, a class
// token, attention with two heads made of matmul and softmax, and dense layers at every token.
func attention() network {
	return network{
		name: "attention", mode: "batch", input: []int{8, 8, 3}, classes: 4,
		parameters: []graph.State{
			kernel("patch.weight", width, 3, 4, 4), shift("patch.bias", width),
			kernel("class", 1, width), kernel("place", tokens, width),
			kernel("qkv.weight", 3*width, width), shift("qkv.bias", 3*width),
			kernel("out.weight", width, width), shift("out.bias", width),
			kernel("up.weight", 2*width, width), kernel("down.weight", width, 2*width),
			kernel("fc.weight", 4, width), shift("fc.bias", 4),
		},
		rule: adamRule,
		body: attentionBody,
	}
}

func attentionBody(b *netBuilder, x graph.Value) graph.Value {
	x = b.do(graph.Conv, "patch", values{x, b.param("patch.weight"), b.param("patch.bias")}, "stride",
		[]int{4, 4})
	x = b.do(graph.Reshape, "flat", values{x}, "shape", []int{width, tokens - 1})
	x = b.do(graph.Transpose, "tokens", values{x}, "perm", []int{1, 0})
	x = b.do(graph.Pad, "room", values{x}, "before", []int{1, 0}, "after", []int{0, 0})
	class := b.do(graph.Pad, "first", values{b.param("class")}, "before", []int{0, 0}, "after",
		[]int{tokens - 1, 0})
	x = b.do(graph.Add, "classed", values{x, class})
	x = b.do(graph.Add, "placed", values{x, b.param("place")})
	x = b.do(graph.Add, "attended", values{x, b.attended(x)})
	y := b.do(graph.Dense, "up", values{x, b.param("up.weight")}, "leading", 1)
	y = b.do(graph.Silu, "silu", values{y})
	y = b.do(graph.Dense, "down", values{y, b.param("down.weight")}, "leading", 1)
	x = b.do(graph.Add, "mixed", values{x, y})
	x = b.do(graph.Slice, "answer", values{x}, "begin", []int{0, 0}, "end", []int{1, width})
	x = b.do(graph.Reshape, "line", values{x}, "shape", []int{width})
	return b.do(graph.Dense, "fc", values{x, b.param("fc.weight"), b.param("fc.bias")})
}

// attended appends attention, made of dense, matmul and softmax nodes.
func (b *netBuilder) attended(x graph.Value) graph.Value {
	qkv := b.do(graph.Dense, "qkv", values{x, b.param("qkv.weight"), b.param("qkv.bias")}, "leading", 1)
	qkv = b.do(graph.Reshape, "apart", values{qkv}, "shape", []int{tokens, 3, heads, ofAHead})
	qkv = b.do(graph.Transpose, "heads", values{qkv}, "perm", []int{1, 2, 0, 3})
	operand := func(name string, i int) graph.Value {
		v := b.do(graph.Slice, name+".one", values{qkv}, "begin", []int{i, 0, 0, 0}, "end",
			[]int{i + 1, heads, tokens, ofAHead})
		return b.do(graph.Reshape, name, values{v}, "shape", []int{heads, tokens, ofAHead})
	}
	s := b.do(graph.MatMul, "scores", values{operand("q", 0), operand("k", 1)}, "transpose_b", true)
	s = b.do(graph.Softmax, "weights", values{b.do(graph.Affine, "scaled", values{s}, "by", 0.577)}, "axis", 2)
	y := b.do(graph.MatMul, "values", values{s, operand("v", 2)})
	y = b.do(graph.Transpose, "together", values{y}, "perm", []int{1, 0, 2})
	y = b.do(graph.Reshape, "joined", values{y}, "shape", []int{tokens, width})
	return b.do(graph.Dense, "out", values{y, b.param("out.weight"), b.param("out.bias")}, "leading", 1)
}
