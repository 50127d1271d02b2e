package gpu

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/graph"
)

// An epilogue applies element-wise nodes to the results of a kernel (kernels/24_epilogue.cl).

// maxOperands is the maximum number of second operands of an epilogue, and maxSteps the maximum number of
// steps.
const (
	maxOperands = 3
	maxSteps    = 8
)

// derivatives is the number that is added to an activation for its gradient.
const derivatives = 512

// pairs are the operations with two operands that an epilogue can have.
var pairs = []graph.Op{graph.Add, graph.Sub, graph.Mul, graph.Div, graph.Max, graph.Min, graph.Prelu,
	graph.ActivationGrad}

// short are the functions of one operand that all epilogues have. Chains have all functions.
var short = []graph.Op{graph.Relu, graph.Relu6, graph.LeakyRelu, graph.Sigmoid, graph.HardSigmoid, graph.Silu,
	graph.HardSwish, graph.Affine, graph.Gelu, graph.Clip}

// shortGradients are activations. All epilogues have their gradients.
var shortGradients = []graph.Op{graph.Relu, graph.Relu6, graph.HardSigmoid, graph.Silu, graph.HardSwish,
	graph.Clip}

// isStep reports whether a chain can have a node.
func isStep(n *graph.Node) bool {
	if _, ok := elementOps[n.Op]; !ok || n.Op == graph.Image {
		return false
	}
	return len(n.In) == 1 || slices.Contains(pairs, n.Op)
}

// isShort reports whether every epilogue can have a node that a chain can have.
func isShort(n *graph.Node) bool {
	if n.Op == graph.ActivationGrad {
		of, _ := graph.ActivationNamed(n.Text("of"))
		return slices.Contains(shortGradients, of)
	}
	return len(n.In) == 2 || slices.Contains(short, n.Op)
}

// epilogue returns the last arguments of a kernel with an epilogue. The kernel counts the given number of
// images in each unit.
func (c *compiler) epilogue(images int) []any {
	none := c.exe.none
	args := []any{none, none, none, none, none, c.exe.owner}
	t := c.epilogues[c.node.Out[0]]
	if t == nil {
		return args
	}
	list, operands := []int{len(t.links), c.out(0).count, images}, 0
	for _, l := range t.links {
		source, spread := 0, make([]int, 4)
		if o := l.other(); o != graph.None {
			operands++
			source, args[operands], spread = operands, c.fn.values[o], c.spreadOf(l, c.fn.values[o])
		}
		list = append(append(append(list, c.function(l)...), source), spread...)
		list = append(list, number(l.operand == 1), number(l.stored))
		if l.stored {
			args[4] = c.out(1)
		}
	}
	args[0] = c.table(list)
	return args
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// function returns the operation of a link and its two parameters.
func (c *compiler) function(l link) []int {
	op := int(l.Op)
	of := l.Op
	if l.Op == graph.ActivationGrad {
		of, _ = graph.ActivationNamed(l.Text("of"))
		op = derivatives + int(of)
	}
	a, b := numbers(l.Node, of)
	return []int{op, int(int32(math.Float32bits(float32(a)))), int(int32(math.Float32bits(float32(b))))}
}

// spreadOf returns the unit of the second operand of a link, the elements of a unit, and the divisor and
// modulus of repeats.
func (c *compiler) spreadOf(l link, o *value) []int {
	y := c.out(0)
	divisor, modulus, _ := repeats(o.Shape, y.Shape)
	if l.Op == graph.Prelu {
		divisor, modulus = max(y.positions(), 1), y.channels()
	}
	return []int{unitsOf(o, y.Kind), o.count, divisor, modulus}
}

// chain launches the nodes of a chain.
func (c *compiler) chain(t *epilogue) {
	x, y := c.fn.values[t.links[0].In[t.links[0].operand]], c.out(0)
	c.launch("chain", y.Kind, y.count, append([]any{x, y, y.count}, c.epilogue(1)...)...)
}
