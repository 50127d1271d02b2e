package fold

import (
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Products of constants are sums over letters, as in the equations of Einsum.

// MatMul multiplies matrices.
func MatMul(c *node.Node) tensor.Tensor {
	a, b := c.Required(0), c.Required(1)
	if c.Err == nil && (len(a.Shape) == 0 || len(b.Shape) == 0) {
		c.Fail("of a number")
	}
	if c.Err != nil {
		return node.Nothing
	}
	const letters = "abcdefghijklmnopqrst"
	rows, columns := "y", "z"
	if len(a.Shape) == 1 {
		rows = ""
	}
	if len(b.Shape) == 1 {
		columns = ""
	}
	outerA, outerB := max(len(a.Shape)-2, 0), max(len(b.Shape)-2, 0)
	n := max(outerA, outerB)
	if n > len(letters) {
		c.Fail("of rank %d", n)
		return node.Nothing
	}
	left := letters[n-outerA:n] + rows + "x"
	right := letters[n-outerB:n] + "x" + columns
	return sumProducts(c, []string{left, right}, letters[:n]+rows+columns, []tensor.Tensor{a, b})
}

// Gemm returns alpha*A*B + beta*C.
func Gemm(c *node.Node) tensor.Tensor {
	a, b := c.Required(0), c.Required(1)
	left, right := "yx", "xz"
	if c.Int("transA", 0) != 0 {
		left = "xy"
	}
	if c.Int("transB", 0) != 0 {
		right = "zx"
	}
	out := sumProducts(c, []string{left, right}, "yz", []tensor.Tensor{a, b})
	if c.Err != nil || out.DType != tensor.F32 {
		c.Fail("of constants of %v is not supported", out.DType)
		return node.Nothing
	}
	alpha, beta := c.Float("alpha", 1), c.Float("beta", 1)
	add, ok := c.Constant(2)
	if ok && !slices.Equal(add.Shape, out.Shape) {
		if s, err := graph.Broadcast(add.Shape, out.Shape); err != nil || !slices.Equal(s, out.Shape) ||
			add.DType != tensor.F32 {
			c.Fail("adds %v to %v", add, out)
			return node.Nothing
		}
	}
	of := element.BroadcastIndex(add.Shape, 2)
	element.Each(out.Shape, func(k int, at []int) {
		v := float64(alpha * float64(out.F32()[k]))
		if ok {
			v += float64(beta * float64(add.F32()[of(at)]))
		}
		out.F32()[k] = float32(v)
	})
	return out
}

// Einsum sums products over the letters that the result lacks.
func Einsum(c *node.Node) tensor.Tensor {
	terms, result, ok := c.Letters()
	if !ok {
		c.FailOfEquation()
		return node.Nothing
	}
	var all []tensor.Tensor
	for i := range terms {
		all = append(all, c.Required(i))
	}
	return sumProducts(c, terms, result, all)
}

// letterLengths returns the length of each letter; a length of 1 broadcasts to any other.
func letterLengths(c *node.Node, terms []string, operands []tensor.Tensor) map[rune]int {
	length := map[rune]int{}
	for i, term := range terms {
		if len(term) != len(operands[i].Shape) {
			c.Fail("operand %d is %v, want rank %d", i, operands[i], len(term))
			return length
		}
		for a, letter := range term {
			have, ok := length[letter]
			switch n := operands[i].Shape[a]; {
			case !ok || have == 1:
				length[letter] = n
			case n != have && n != 1:
				c.Fail("lengths of %d and %d that have to be equal", have, n)
			}
		}
	}
	return length
}

// sumProducts sums in float64, or in integers, and rounds once.
func sumProducts(c *node.Node, terms []string, result string, operands []tensor.Tensor) tensor.Tensor {
	if c.Err != nil {
		return node.Nothing
	}
	length := letterLengths(c, terms, operands)
	order := []rune(result)
	for letter := range length {
		if !slices.Contains(order, letter) {
			order = append(order, letter)
		}
	}
	slices.Sort(order[len([]rune(result)):])
	var shape, over []int
	for i, letter := range order {
		n, ok := length[letter]
		if !ok || slices.Contains(order[:i], letter) {
			c.Fail("has no single axis %q", letter)
			return node.Nothing
		}
		over = append(over, n)
	}
	shape = over[:len([]rune(result))]
	work := 1
	for _, n := range over {
		if work *= max(n, 1); work > node.MaxFolded<<2 {
			c.Fail("a product of more than %d numbers", node.MaxFolded<<2)
			return node.Nothing
		}
	}
	out := c.NewConstant(operands[0].DType, shape)
	if c.Err != nil {
		return node.Nothing
	}
	offsets := make([]func([]int) int, len(operands))
	for i, term := range terms {
		step, axes := element.Strides(operands[i].Shape), make([]int, len(operands[i].Shape))
		for a, letter := range []rune(term) {
			axes[a] = slices.Index(order, letter)
			if operands[i].Shape[a] == 1 {
				step[a] = 0
			}
		}
		offsets[i] = func(at []int) int {
			k := 0
			for a, s := range step {
				k += at[axes[a]] * s
			}
			return k
		}
	}
	addProducts(c, out, operands, over, offsets)
	return out
}

func addProducts(c *node.Node, out tensor.Tensor, operands []tensor.Tensor, sumAxes []int,
	offsets []func([]int) int) {
	inner := max(tensor.Count(sumAxes[len(out.Shape):]), 1)
	for _, t := range operands {
		if t.DType != out.DType {
			c.Fail("of %v and %v is not supported", out.DType, t.DType)
			return
		}
	}
	if element.IsFloat(out.DType) {
		reads := make([]func(int) float64, len(operands))
		for i, t := range operands {
			reads[i], _ = element.Reals(t)
		}
		sum := 0.0
		element.Each(sumAxes, func(k int, at []int) {
			if k%inner == 0 {
				sum = 0
			}
			p := 1.0
			for i, read := range reads {
				p *= read(offsets[i](at))
			}
			sum += float64(p)
			element.SetReal(out, k/inner, sum)
		})
		return
	}
	reads := make([]func(int) int64, len(operands))
	for i, t := range operands {
		var err error
		if reads[i], err = element.Integers(t); err != nil {
			c.Fail("%w", err)
			return
		}
	}
	sum := int64(0)
	element.Each(sumAxes, func(k int, at []int) {
		if k%inner == 0 {
			sum = 0
		}
		p := int64(1)
		for i, read := range reads {
			p *= c.Concrete(read(offsets[i](at)))
		}
		sum += p
		element.SetInteger(out, k/inner, sum)
	})
}
