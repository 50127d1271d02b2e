package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/tensor"
)

// Products of constants are sums over letters, as Einsum writes them.

func foldMatMul(c *Node) tensor.Tensor {
	a, b := c.required(0), c.required(1)
	if c.err == nil && (len(a.Shape) == 0 || len(b.Shape) == 0) {
		c.fail("of a number")
	}
	if c.err != nil {
		return nothing
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
		c.fail("of rank %d", n)
		return nothing
	}
	left := letters[n-outerA:n] + rows + "x"
	right := letters[n-outerB:n] + "x" + columns
	return sumProducts(c, []string{left, right}, letters[:n]+rows+columns, []tensor.Tensor{a, b})
}

func foldGemm(c *Node) tensor.Tensor {
	a, b := c.required(0), c.required(1)
	left, right := "yx", "xz"
	if c.int("transA", 0) != 0 {
		left = "xy"
	}
	if c.int("transB", 0) != 0 {
		right = "zx"
	}
	out := sumProducts(c, []string{left, right}, "yz", []tensor.Tensor{a, b})
	if c.err != nil || out.DType != tensor.F32 {
		c.fail("of constants of %v is not supported", out.DType)
		return nothing
	}
	alpha, beta := c.float("alpha", 1), c.float("beta", 1)
	add, ok := c.constant(2)
	if ok && !slices.Equal(add.Shape, out.Shape) {
		if s, err := graph.Broadcast(add.Shape, out.Shape); err != nil || !slices.Equal(s, out.Shape) ||
			add.DType != tensor.F32 {
			c.fail("adds %v to %v", add, out)
			return nothing
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

// foldEinsum sums products over the letters that the result lacks.
func foldEinsum(c *Node) tensor.Tensor {
	terms, result, ok := c.letters()
	if !ok {
		c.failOfEquation()
		return nothing
	}
	var all []tensor.Tensor
	for i := range terms {
		all = append(all, c.required(i))
	}
	return sumProducts(c, terms, result, all)
}

// letterLengths returns the length of each letter; a length of 1 broadcasts to any other.
func letterLengths(c *Node, terms []string, all []tensor.Tensor) map[rune]int {
	length := map[rune]int{}
	for i, term := range terms {
		if len(term) != len(all[i].Shape) {
			c.fail("operand %d is %v, want rank %d", i, all[i], len(term))
			return length
		}
		for a, letter := range term {
			have, ok := length[letter]
			switch n := all[i].Shape[a]; {
			case !ok || have == 1:
				length[letter] = n
			case n != have && n != 1:
				c.fail("lengths of %d and %d that have to be equal", have, n)
			}
		}
	}
	return length
}

// sumProducts sums in float64, or in integers, and rounds once.
func sumProducts(c *Node, terms []string, result string, all []tensor.Tensor) tensor.Tensor {
	if c.err != nil {
		return nothing
	}
	length := letterLengths(c, terms, all)
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
			c.fail("has no single axis %q", letter)
			return nothing
		}
		over = append(over, n)
	}
	shape = over[:len([]rune(result))]
	work := 1
	for _, n := range over {
		if work *= max(n, 1); work > maxFolded<<2 {
			c.fail("a product of more than %d numbers", maxFolded<<2)
			return nothing
		}
	}
	out := c.newConstant(all[0].DType, shape)
	if c.err != nil {
		return nothing
	}
	offsets := make([]func([]int) int, len(all))
	for i, term := range terms {
		step, axes := element.Strides(all[i].Shape), make([]int, len(all[i].Shape))
		for a, letter := range []rune(term) {
			axes[a] = slices.Index(order, letter)
			if all[i].Shape[a] == 1 {
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
	addProducts(c, out, all, over, offsets)
	return out
}

func addProducts(c *Node, out tensor.Tensor, all []tensor.Tensor, over []int, offsets []func([]int) int) {
	inner := max(tensor.Count(over[len(out.Shape):]), 1)
	for _, t := range all {
		if t.DType != out.DType {
			c.fail("of %v and %v is not supported", out.DType, t.DType)
			return
		}
	}
	if element.IsFloat(out.DType) {
		reads := make([]func(int) float64, len(all))
		for i, t := range all {
			reads[i], _ = element.Reals(t)
		}
		sum := 0.0
		element.Each(over, func(k int, at []int) {
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
	reads := make([]func(int) int64, len(all))
	for i, t := range all {
		var err error
		if reads[i], err = element.Integers(t); err != nil {
			c.fail("%w", err)
			return
		}
	}
	sum := int64(0)
	element.Each(over, func(k int, at []int) {
		if k%inner == 0 {
			sum = 0
		}
		p := int64(1)
		for i, read := range reads {
			p *= c.concrete(read(offsets[i](at)))
		}
		sum += p
		element.SetInteger(out, k/inner, sum)
	})
}
