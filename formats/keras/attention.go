package keras

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// MultiHeadAttention has the operands query, value and key, by position in the call or by
// name. A call without a key uses the value as the key. The layer has four dense layers:
// one for each operand, and one for the output.

// attentionParts are the dense layers in the order of their weights, with their names in an archive.
var attentionParts = []struct{ name, archived string }{{"query", "query_dense"}, {"key", "key_dense"},
	{"value", "value_dense"}, {"attention_output", "output_dense"}}

// parseAttention reads the calls of a MultiHeadAttention layer.
func parseAttention(b json.RawMessage) (out []tensorRefs, err error) {
	if len(b) == 0 || string(b) == "null" {
		return nil, nil
	}
	var calls []any
	if err := unmarshal(b, &calls, "inbound_nodes"); err != nil {
		return nil, err
	}
	for i, x := range calls {
		r, err := attentionOperands(x)
		if err != nil {
			return nil, fmt.Errorf("inbound_nodes: call %d: %w", i, err)
		}
		out = append(out, r)
	}
	return out, nil
}

func attentionOperands(x any) (r tensorRefs, err error) {
	args, kwargs := callArguments(x)
	order := []string{"query", "value", "key"}
	if len(args) > len(order) {
		return r, fmt.Errorf("has %d operands, of at most 3", len(args))
	}
	named := map[string]any{}
	for i, a := range args {
		named[order[i]] = a
	}
	for key, v := range kwargs {
		switch {
		case slices.Contains(order, key) && v != nil:
			named[key] = v
		case v != nil && v != false:
			return r, fmt.Errorf("the argument %.80q of the call is not supported", key)
		}
	}
	if named["query"] == nil || named["value"] == nil {
		return r, fmt.Errorf("the query or the value is missing")
	}
	for _, key := range order {
		dict := false
		if err := r.flatten(named[key], key, &dict); err != nil {
			return r, err
		}
	}
	if r.keys = nil; len(r.refs) > len(order) {
		return r, fmt.Errorf("has %d operands, of at most 3", len(r.refs))
	}
	return r, nil
}

// callArguments splits a call of Keras 3 or of earlier versions into its arguments.
func callArguments(x any) (args []any, kwargs map[string]any) {
	if object, ok := x.(map[string]any); ok {
		args, _ = object["args"].([]any)
		kwargs, _ = object["kwargs"].(map[string]any)
		return args, kwargs
	}
	list, _ := x.([]any)
	if len(list) > 0 {
		if _, alone := list[0].(string); alone {
			list = []any{x}
		}
	}
	for _, x := range list {
		l, _ := x.([]any)
		if len(l) == 4 {
			kwargs, _ = l[3].(map[string]any)
			l = l[:3]
		}
		args = append(args, l)
	}
	return args, kwargs
}

// attention computes softmax(query*key / sqrt(width)) * value for each head, followed by a
// dense layer.
func attention(c *call) flow {
	heads, width := c.count("num_heads", 0), c.count("key_dim", 0)
	depth := width
	if c.has("value_dim") {
		depth = c.count("value_dim", 0)
	}
	if c.has("attention_axes") && !slices.Equal(c.fields.list("attention_axes", "a list of axes"), []int{1}) {
		return c.fail("attends along other axes than the first")
	}
	if len(c.in) < 2 || len(c.in) > 3 {
		return c.fail("has %d operands, want 2 or 3", len(c.in))
	}
	for _, f := range c.in {
		if len(f.shape) != 2 {
			return c.fail("of a tensor of shape %v is not supported, only of [positions, channels]", f.shape)
		}
	}
	if c.err != nil || c.fields.err != nil {
		return flow{v: graph.None, logits: graph.None}
	}
	query := c.heads("query", c.in[0], heads, width)
	key := c.heads("key", c.in[len(c.in)-1], heads, width)
	value := c.heads("value", c.in[1], heads, depth)
	scores := c.node(graph.MatMul, ".scores", []graph.Value{query, key}, "transpose_b", true)
	scores = c.node(graph.Affine, ".scaled", []graph.Value{scores}, "by", 1/math.Sqrt(float64(width)))
	scores = c.node(graph.Softmax, ".shares", []graph.Value{scores}, "axis", 2)
	v := c.node(graph.MatMul, ".heads", []graph.Value{scores, value})
	v = c.node(graph.Transpose, ".joined", []graph.Value{v}, "perm", []int{1, 0, 2})
	v = c.node(graph.Reshape, ".positions", []graph.Value{v}, "shape", []int{c.in[0].shape[0], heads * depth})
	outputs := c.in[0].shape[1]
	t := c.weight("attention_output_kernel", heads, depth, outputs).Reshape(heads*depth, outputs)
	bias := graph.None
	if c.bool("use_bias", true) {
		bias = c.declare("attention_output_bias", graph.Bias, c.weight("attention_output_bias", outputs))
	}
	kernel := c.declare("attention_output_kernel", graph.Weight, permuted(t, []int{1, 0}))
	return c.inKerasOrder(c.node(graph.Dense, "", []graph.Value{v, kernel, bias}, "leading", 1))
}

// heads applies a dense layer to each position, [positions, channels], and returns [heads,
// positions, width].
func (c *call) heads(operand string, f flow, heads, width int) graph.Value {
	v := c.inElementOrder(f).v
	if !f.kerasOrder && !c.build.first {
		v = c.transposed(c.channelsFirst(f).v, c.toKeras(2))
	}
	t := c.weight(operand+"_kernel", f.shape[1], heads, width)
	if c.err != nil {
		return graph.None
	}
	matrix := permuted(t.Reshape(f.shape[1], heads*width), []int{1, 0})
	kernel := c.declare(operand+"_kernel", graph.Weight, matrix)
	bias := graph.None
	if c.bool("use_bias", true) {
		bias = c.declare(operand+"_bias", graph.Bias, c.weight(operand+"_bias", heads, width).Reshape(heads*width))
	}
	v = c.node(graph.Dense, "."+operand, []graph.Value{v, kernel, bias}, "leading", 1)
	v = c.node(graph.Reshape, "."+operand+".split", []graph.Value{v}, "shape", []int{f.shape[0], heads, width})
	return c.node(graph.Transpose, "."+operand+".heads", []graph.Value{v}, "perm", []int{1, 0, 2})
}
