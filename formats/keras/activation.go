package keras

import (
	"encoding/json"
	"strings"

	"github.com/bnctl/bnctl/graph"
)

// activationOps lists the activations that are one node without attributes.
var activationOps = map[string]graph.Op{
	"relu": graph.Relu, "relu6": graph.Relu6, "sigmoid": graph.Sigmoid, "tanh": graph.Tanh,
	"elu": graph.Elu, "softplus": graph.Softplus, "exponential": graph.Exp,
	"swish": graph.Silu, "silu": graph.Silu, "hard_swish": graph.HardSwish, "hard_silu": graph.HardSwish,
	"gelu": graph.Gelu, "mish": graph.Mish,
}

// activation makes the nodes of the layer Activation.
func (c *call) activation() flow {
	f := c.operand()
	name := c.activationName()
	if name == "linear" {
		return f
	}
	return c.apply(f, name, "")
}

// activated adds the activation that a layer with weights has as a setting.
func (c *call) activated(f flow) flow {
	name := c.activationName()
	if name == "linear" || c.err != nil {
		return f
	}
	return c.apply(f, name, "."+name)
}

// activationName reads the field activation, which is a name or the object of a registered
// function.
func (c *call) activationName() string {
	if !c.has("activation") {
		return "linear"
	}
	var object struct {
		Class  string          `json:"class_name"`
		Config json.RawMessage `json:"config"`
	}
	var name string
	raw := c.m["activation"]
	if json.Unmarshal(raw, &name) == nil {
		return name
	}
	if json.Unmarshal(raw, &object) == nil && object.Class == "function" &&
		json.Unmarshal(object.Config, &name) == nil {
		return name
	}
	c.fail("activation %.80s is not supported", raw)
	return "linear"
}

// apply adds the nodes of an activation; the last is named after the layer with the suffix.
func (c *call) apply(f flow, name, suffix string) flow {
	in := []graph.Value{f.v}
	if op, ok := activationOps[name]; ok {
		return f.sameOrder(c.node(op, suffix, in))
	}
	switch strings.ToLower(name) {
	case "softmax", "softmax_v2": // tf.nn.softmax has the second name
		return c.softmaxOver(f, -1, suffix)
	case "log_softmax":
		f = c.inElementOrder(f)
		return f.sameOrder(c.node(graph.LogSoftmax, suffix, []graph.Value{f.v}, "axis", c.axisInGraph(f,
			len(f.shape)-1)))
	case "leaky_relu":
		return f.sameOrder(c.node(graph.LeakyRelu, suffix, in, "alpha", 0.2))
	case "hard_sigmoid":
		return f.sameOrder(c.hardSigmoid(in, suffix))
	case "selu":
		v := c.node(graph.Elu, suffix+".elu", in, "alpha", 1.6732632423543772)
		return f.sameOrder(c.node(graph.Affine, suffix, []graph.Value{v}, "by", 1.0507009873554805))
	case "softsign":
		return f.sameOrder(c.softsign(f.v, suffix))
	}
	return c.fail("activation %.80q is not supported", name)
}

// hardSigmoid adds a hard sigmoid. Since Keras 3 it has another slope.
func (c *call) hardSigmoid(in []graph.Value, suffix string) graph.Value {
	slope := 0.2
	if c.major >= 3 {
		slope = 1.0 / 6
	}
	return c.node(graph.HardSigmoid, suffix, in, "alpha", slope)
}

// softsign computes x/(1+|x|), with |x| = relu(x) + relu(-x).
func (c *call) softsign(x graph.Value, suffix string) graph.Value {
	up := c.node(graph.Relu, suffix+".up", []graph.Value{x})
	negative := c.node(graph.Affine, suffix+".negative", []graph.Value{x}, "by", -1.0)
	down := c.node(graph.Relu, suffix+".down", []graph.Value{negative})
	size := c.node(graph.Add, suffix+".size", []graph.Value{up, down})
	under := c.node(graph.Affine, suffix+".under", []graph.Value{size}, "add", 1.0)
	return c.node(graph.Div, suffix, []graph.Value{x, under})
}

// operation returns the function that makes the node of a function of Keras 3. The
// description uses that function as a layer.
func operation(op graph.Op) func(*call) flow {
	return func(c *call) flow {
		f := c.operand()
		return f.sameOrder(c.node(op, "", []graph.Value{f.v}))
	}
}

// gelu is the function keras.ops.gelu. Its default is the form with tanh.
func gelu(c *call) flow {
	if c.bool("approximate", true) {
		return operation(graph.GeluTanh)(c)
	}
	return operation(graph.Gelu)(c)
}

// softmaxOver adds a softmax over an axis in Keras's order, counting the batch.
func (c *call) softmaxOver(f flow, axis int, suffix string) flow {
	f = c.inElementOrder(f)
	rank := len(f.shape)
	if axis < 0 {
		axis += rank + 1
	}
	if axis < 1 || axis > rank {
		return c.fail("softmax over axis %d of a tensor of rank %d", axis, rank+1)
	}
	at := c.axisInGraph(f, axis-1)
	out := f.sameOrder(c.node(graph.Softmax, suffix, []graph.Value{f.v}, "axis", at))
	if at == 0 && !f.kerasOrder {
		out.logits = f.v
	}
	return out
}

func softmax(c *call) flow { return c.softmaxOver(c.operand(), c.axisOf("axis", -1), "") }

func relu(c *call) flow {
	f := c.operand()
	in := []graph.Value{f.v}
	slope, limit := c.float("negative_slope", 0), c.float("max_value", -1)
	if c.float("threshold", 0) != 0 || slope != 0 && c.has("max_value") {
		return c.fail("with a threshold, or with a slope and a limit, is not supported")
	}
	switch {
	case slope != 0:
		return f.sameOrder(c.node(graph.LeakyRelu, "", in, "alpha", slope))
	case !c.has("max_value"):
		return f.sameOrder(c.node(graph.Relu, "", in))
	case limit == 6:
		return f.sameOrder(c.node(graph.Relu6, "", in))
	}
	return f.sameOrder(c.node(graph.Clip, "", in, "min", 0.0, "max", limit))
}

func leakyRelu(c *call) flow {
	f := c.operand()
	return f.sameOrder(c.node(graph.LeakyRelu, "", []graph.Value{f.v}, "alpha", c.float("alpha", 0.3)))
}

func elu(c *call) flow {
	f := c.operand()
	return f.sameOrder(c.node(graph.Elu, "", []graph.Value{f.v}, "alpha", c.float("alpha", 1)))
}

// prelu adds a PReLU with one slope per element, or per channel if the spatial axes share
// the slopes.
func prelu(c *call) flow {
	f := c.channelsFirst(c.operand())
	shape := append([]int{}, f.shape...)
	for _, a := range c.fields.list("shared_axes", "a list of axes") {
		if a < 1 || a > len(shape) {
			return c.fail("shares axis %d of a tensor of rank %d", a, len(shape)+1)
		}
		shape[a-1] = 1
	}
	t := permuted(c.weight("alpha", shape...), inverse(c.toKeras(len(shape))))
	if c.err != nil {
		return f
	}
	if perChannel := t.Shape[0]; perChannel == t.Count() && perChannel == c.graphShape(f.shape)[0] {
		slope := c.declare("alpha", graph.Weight, t.Reshape(perChannel))
		return f.sameOrder(c.node(graph.Prelu, "", []graph.Value{f.v, slope}))
	}
	slope := c.declare("alpha", graph.Weight, t)
	up := c.node(graph.Relu, ".up", []graph.Value{f.v})
	negative := c.node(graph.Affine, ".negative", []graph.Value{f.v}, "by", -1.0)
	below := c.node(graph.Relu, ".below", []graph.Value{negative})
	down := c.node(graph.Mul, ".down", []graph.Value{below, slope})
	return f.sameOrder(c.node(graph.Sub, "", []graph.Value{up, down}))
}
