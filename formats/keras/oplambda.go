package keras

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// Keras 2.4 to 2.15 write a function of TensorFlow that is called on a tensor as a layer:
// x/127.5 is a TFOpLambda of math.truediv, x[..., ::-1] a SlicingOpLambda. The steps of
// preprocess_input are written in the same way. The operands are in the call: [layer, call,
// tensor, {"y": 127.5}]. The first one may be a constant: ["_CONSTANT_VALUE", -1, 1.0,
// {"y": [layer, call, tensor]}].

// isOpLambda reports whether a class is a function of TensorFlow written as a layer.
func isOpLambda(class string) bool { return class == "TFOpLambda" || class == "SlicingOpLambda" }

// parseOpLambda reads the one call of a function: tensors are its operands, and everything
// else is added to the layer's fields.
func (l *layer) parseOpLambda(b json.RawMessage) error {
	var calls [][]json.RawMessage
	if err := unmarshal(b, &calls, "inbound_nodes"); err != nil {
		return err
	}
	if len(calls) != 1 || len(calls[0]) < 3 || len(calls[0]) > 4 {
		return fmt.Errorf("inbound_nodes is %.80s, want one call of [layer, call, tensor, arguments]", b)
	}
	args := map[string]json.RawMessage{}
	if len(calls[0]) == 4 {
		if err := unmarshal(calls[0][3], &args, "arguments"); err != nil {
			return err
		}
	}
	var operands []tensorRef
	if string(calls[0][0]) == `"_CONSTANT_VALUE"` {
		l.fields.m["x"] = calls[0][2]
	} else if o, ok := parseTensorRef(calls[0][:3]); ok {
		operands = append(operands, o)
	} else {
		return fmt.Errorf("inbound_nodes is %.80s, want a reference to a tensor", b)
	}
	delete(args, "name")
	for key, v := range args {
		if l.fields.m[key] != nil {
			return fmt.Errorf("the argument %.80q of the call is a key of the layer too", key)
		}
		var ref []json.RawMessage
		if key == "y" && json.Unmarshal(v, &ref) == nil {
			if o, ok := parseTensorRef(ref); ok {
				operands = append(operands, o)
				continue
			}
		}
		if string(v) != "null" {
			l.fields.m[key] = v
		}
	}
	l.calls, l.keys = [][]tensorRef{operands}, [][]string{nil}
	return nil
}

// parseTensorRef reads [layer, call, tensor].
func parseTensorRef(l []json.RawMessage) (tensorRef, bool) {
	if len(l) != 3 {
		return tensorRef{}, false
	}
	var name *string
	call, isCall := integer(l[1])
	at, isTensor := integer(l[2])
	if json.Unmarshal(l[0], &name) != nil || name == nil || !isCall || !isTensor || min(call, at) < 0 {
		return tensorRef{}, false
	}
	return tensorRef{*name, call, at}, true
}

// functions are the functions of TensorFlow that have a counterpart.
var functions = map[string]graph.Op{
	"math.add": graph.Add, "__operators__.add": graph.Add, "nn.bias_add": graph.Add,
	"math.subtract": graph.Sub, "math.multiply": graph.Mul, "math.truediv": graph.Div, "math.divide": graph.Div,
	"nn.relu": graph.Relu, "math.sigmoid": graph.Sigmoid, "nn.sigmoid": graph.Sigmoid, "math.tanh": graph.Tanh,
	"nn.silu": graph.Silu, "nn.relu6": graph.Relu6, "math.exp": graph.Exp, "math.sqrt": graph.Sqrt,
	"nn.gelu": graph.Gelu, "math.erf": graph.Erf, "math.softplus": graph.Softplus, "nn.softplus": graph.Softplus,
}

// opLambda makes the nodes of a function of tensors and constants.
func opLambda(c *call) flow {
	name := c.text("function", "")
	op, ok := functions[name]
	if !ok && name != "identity" && name != "convert_to_tensor" && name != "cast" || len(c.in) == 0 {
		return c.fail("the function tf.%.80s is not supported", name)
	}
	second := "y"
	switch name {
	case "nn.bias_add":
		second = "bias"
	case "nn.gelu":
		if c.bool("approximate", false) {
			op = graph.GeluTanh
		}
	default:
		c.refuse("approximate", "", "another function")
	}
	arguments := second
	if op != graph.Add && op != graph.Sub && op != graph.Mul && op != graph.Div {
		arguments = ""
	}
	for _, key := range []string{"x", "y", "bias", "dtype"} {
		if c.has(key) && key != arguments && !(key == "x" && arguments != "") && !(key == "dtype" && !ok) {
			return c.fail("the function tf.%.80s has an argument %s that is not supported", name, key)
		}
	}
	switch {
	case !ok:
		if d := c.text("dtype", "float32"); d != "float32" && d != "float16" && d != "float64" && d != "bfloat16" {
			return c.fail("casts to %.40s, which is not supported", d)
		}
		return c.operand()
	case arguments == "":
		if len(c.in) != 1 {
			return c.fail("has %d operands, want 1", len(c.in))
		}
		f := c.operand()
		return f.sameOrder(c.node(op, "", []graph.Value{f.v}))
	case len(c.in) == 2:
		return c.chain(op, "")
	case len(c.in) == 1 && c.has("x"):
		return c.withConstant(op, "x", true)
	case len(c.in) == 1 && c.has(second):
		return c.withConstant(op, second, false)
	}
	return c.fail("has %d operands", len(c.in))
}

// withConstant joins a tensor with a constant of one number, or one for each channel.
func (c *call) withConstant(op graph.Op, key string, constantFirst bool) flow {
	f := c.channelsFirst(c.operand())
	k := c.perChannel(f, key, 0)
	in := []graph.Value{f.v, k}
	if constantFirst {
		slices.Reverse(in)
	}
	return f.sameOrder(c.node(op, "", in))
}

// slicing reverses the order of the channels, the only supported slice.
func slicing(c *call) flow {
	f := c.channelsFirst(c.operand())
	if name := c.text("function", ""); name != "__operators__.getitem" {
		return c.fail("the function tf.%.80s is not supported", name)
	}
	shape := c.graphShape(f.shape)
	if !c.turnsChannels() || c.first || len(shape) < 2 || shape[0] > 256 {
		return c.fail("slices %.200s; only [..., ::-1], which turns the channels, is supported", c.m["slice_spec"])
	}
	var channels []graph.Value
	for i := shape[0] - 1; i >= 0; i-- {
		begin, end := make([]int, len(shape)), slices.Clone(shape)
		begin[0], end[0] = i, i+1
		channels = append(channels, c.node(graph.Slice, ".channel", []graph.Value{f.v}, "begin", begin, "end", end))
	}
	return f.sameOrder(c.node(graph.Concat, "", channels, "axis", 0))
}

// turnsChannels reports whether a slice is [..., ::-1].
func (c *call) turnsChannels() bool {
	var spec any
	c.into("slice_spec", &spec, "a slice")
	if m, ok := spec.(map[string]any); ok && m["class_name"] == "__tuple__" {
		spec = m["items"]
	}
	l, ok := spec.([]any)
	if !ok || len(l) != 2 {
		return false
	}
	dots := l[0] == "..."
	if m, ok := l[0].(map[string]any); ok {
		dots = m["class_name"] == "__ellipsis__"
	}
	m, ok := l[1].(map[string]any)
	return ok && dots && len(m) == 3 && m["start"] == nil && m["stop"] == nil && m["step"] == -1.0
}
