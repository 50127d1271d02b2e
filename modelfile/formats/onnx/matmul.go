package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// isDynamic reports whether operand i is there and computed from the input.
func (c *call) isDynamic(i int) bool { return c.has(i) && !c.in[i].isConstant() }

// dynamicMatMul is a MatMul of two computed values. Their batch axes have to meet in front of the
// matrices; where the file has none each row is a matrix of its own.
func (c *call) dynamicMatMul() graph.Value {
	a, b := c.dynamic(0), c.dynamic(1)
	s, t := c.shape(0), c.shape(1)
	if c.unbatched {
		return c.unbatchedMatMul(a, b)
	}
	if len(s) < 2 || len(t) < 2 {
		c.failAcrossBatch("of values of rank %d and %d multiplies along the batch axis", len(s)+1, len(t)+1)
	}
	c.checkAligned(0, 1)
	return c.node(graph.MatMul, "", []graph.Value{a, b})
}

// unbatchedMatMul is a MatMul of whole values, of which one with a single axis is a row on the left and
// a column on the right, which the result does not have.
func (c *call) unbatchedMatMul(a, b graph.Value) graph.Value {
	s, t := c.shape(0), c.shape(1)
	if c.err == nil && (len(s) == 0 || len(t) == 0) {
		c.fail("of a number")
	}
	if c.err != nil || len(s) > 1 && len(t) > 1 {
		return c.node(graph.MatMul, "", []graph.Value{a, b})
	}
	if len(s) == 1 {
		a = c.node(graph.Reshape, ".row", []graph.Value{a}, "shape", []int{1, s[0]})
	}
	if len(t) == 1 {
		b = c.node(graph.Reshape, ".column", []graph.Value{b}, "shape", []int{t[0], 1})
	}
	v := c.node(graph.MatMul, ".matrix", []graph.Value{a, b})
	if v == graph.None {
		return v
	}
	shape := slices.Clone(c.g.Type(v).Shape)
	if len(t) == 1 {
		shape = shape[:len(shape)-1]
	}
	if len(s) == 1 {
		at := len(shape) - 1
		if len(t) == 1 {
			at++
		}
		shape = slices.Delete(shape, at-1, at)
	}
	return c.node(graph.Reshape, "", []graph.Value{v}, "shape", shape)
}

// dynamicGemm: y = alpha*A*B + beta*C of values without a batch axis.
func (c *call) dynamicGemm() graph.Value {
	if !c.unbatched {
		c.failAcrossBatch("of rows with a matrix that is computed mixes the rows of the batch")
		return graph.None
	}
	alpha, beta := c.float("alpha", 1), c.float("beta", 1)
	v := c.node(graph.MatMul, ".product", []graph.Value{c.dynamic(0), c.dynamic(1)}, "transpose_a",
		c.int("transA", 0) != 0, "transpose_b", c.int("transB", 0) != 0)
	if alpha != 1 {
		v = c.node(graph.Affine, ".scaled", []graph.Value{v}, "by", shortest(alpha))
	}
	if !c.has(2) || beta == 0 || c.err != nil {
		return v
	}
	if c.isDynamic(2) {
		add := c.dynamic(2)
		if beta != 1 {
			add = c.node(graph.Affine, ".addend", []graph.Value{add}, "by", shortest(beta))
		}
		return c.node(graph.Add, "", []graph.Value{v, add})
	}
	t, _ := c.constant(2)
	add := c.declare(c.n.Input[2], graph.Bias, c.scaled(c.toF32(t), float32(beta)))
	return c.node(graph.Add, "", []graph.Value{v, add})
}

// Einsum of two operands is a product of matrices: the letters of both that the result keeps are
// leading axes, those of both that it lacks are summed, and the others are those of one operand.
//
//	bqhd,bkhd->bhqk    leading b h, left q, right k, summed d

// einsum is one on its way to nodes.
type einsum struct {
	*call
	letters map[byte]int // the length of each axis
	result  string
}

func einsumOf(c *call) graph.Value {
	e, terms := c.equation()
	if e == nil {
		return graph.None
	}
	in := make([]graph.Value, len(terms))
	for i, term := range terms {
		if in[i] = e.operand(i, term); c.err != nil {
			return graph.None
		}
	}
	if len(terms) == 1 {
		return e.turn("", in[0], terms[0], e.result)
	}
	return e.product(in, terms)
}

// equation takes the equation apart, without the batch's letter, which is the first everywhere.
func (c *call) equation() (e *einsum, terms []string) {
	given := c.text("equation", "")
	terms, result, ok := splitEquation(given)
	if !ok || len(terms) != len(c.in) || len(terms) > 2 {
		c.fail("of the equation %.80q of %d operands is not supported, only of one or two with -> and without ...",
			given, len(c.in))
		return nil, nil
	}
	if !c.unbatched {
		for i, term := range append(slices.Clone(terms), result) {
			if i < len(terms) && c.in[i].isConstant() {
				continue
			}
			if term == "" || result == "" || term[0] != result[0] {
				c.failAcrossBatch("of the equation %.80q works along the batch axis", given)
				return nil, nil
			}
			if i < len(terms) {
				terms[i] = term[1:]
			}
		}
		batch := result[0]
		result = result[1:]
		for i, term := range append(slices.Clone(terms), result) {
			weight := i < len(terms) && c.in[i].isConstant()
			if slices.Contains([]byte(term), batch) && !(weight && c.drops(i, &terms[i], batch)) {
				c.failAcrossBatch("of the equation %.80q works along the batch axis", given)
				return nil, nil
			}
		}
	}
	return &einsum{call: c, letters: map[byte]int{}, result: result}, terms
}

// drops takes the batch's letter from the term of a constant, whose axis has the length 1.
func (c *call) drops(i int, term *string, batch byte) bool {
	t := c.in[i].c
	if (*term)[0] != batch || len(t.Shape) != len(*term) || t.Shape[0] != 1 {
		return false
	}
	c.in[i].c = t.Reshape(t.Shape[1:]...)
	*term = (*term)[1:]
	return true
}

// operand returns operand i, whose axes have these letters.
func (e *einsum) operand(i int, term string) graph.Value {
	v := graph.None
	if e.isDynamic(i) {
		v = e.dynamic(i)
	} else if t, ok := e.constant(i); ok {
		v = e.state(i, graph.Weight, t.Shape...)
	}
	if e.err != nil || v == graph.None {
		return graph.None
	}
	shape := e.g.Type(v).Shape
	if len(shape) != len(term) {
		e.fail("operand %d has the shape %v for the letters %q", i, shape, term)
		return graph.None
	}
	for a := range term {
		switch n, ok := e.letters[term[a]]; {
		case slices.Contains([]byte(term[:a]), term[a]):
			e.fail("operand %d has the letter %q twice, which is not supported", i, term[a])
		case ok && n != shape[a]:
			e.fail("the letter %q stands for lengths of %d and %d", term[a], n, shape[a])
		}
		e.letters[term[a]] = shape[a]
	}
	return v
}

// product multiplies two operands.
func (e *einsum) product(in []graph.Value, terms []string) graph.Value {
	var leading, left, right, summed string
	has := func(term string, letter rune) bool { return slices.Contains([]rune(term), letter) }
	for _, letter := range terms[0] {
		switch stays := has(e.result, letter); {
		case has(terms[1], letter) && stays:
			leading += string(letter)
		case has(terms[1], letter):
			summed += string(letter)
		case stays:
			left += string(letter)
		default:
			e.fail("sums the letter %q of one operand, which is not supported", letter)
		}
	}
	for _, letter := range terms[1] {
		if has(terms[0], letter) {
			continue
		}
		if right += string(letter); !has(e.result, letter) {
			e.fail("sums the letter %q of one operand, which is not supported", letter)
		}
	}
	a := e.grouped(".left", in[0], terms[0], leading, left, summed)
	b := e.grouped(".right", in[1], terms[1], leading, right, summed)
	v := e.node(graph.MatMul, ".matrix", []graph.Value{a, b}, "transpose_b", true)
	v = e.node(graph.Reshape, ".axes", []graph.Value{v}, "shape", e.lengths(leading+left+right))
	return e.turn("", v, leading+left+right, e.result)
}

// grouped turns an operand to [leading..., one axis for each group].
func (e *einsum) grouped(suffix string, v graph.Value, term, leading string, groups ...string) graph.Value {
	order, shape := leading, e.lengths(leading)
	for _, g := range groups {
		order, shape = order+g, append(shape, tensor.Count(e.lengths(g)))
	}
	return e.node(graph.Reshape, suffix, []graph.Value{e.turn(suffix+".turned", v, term, order)}, "shape", shape)
}

func (e *einsum) lengths(letters string) (shape []int) {
	for i := range letters {
		shape = append(shape, e.letters[letters[i]])
	}
	return shape
}

// turn orders the axes of a value.
func (e *einsum) turn(suffix string, v graph.Value, from, to string) graph.Value {
	var perm []int
	for i := range to {
		at := slices.Index([]byte(from), to[i])
		if at < 0 || slices.Contains(perm, at) {
			e.fail("makes the letter %q, which no operand has, or twice", to[i])
			return graph.None
		}
		perm = append(perm, at)
	}
	if len(from) != len(to) {
		e.fail("sums letters of one operand, which is not supported")
		return graph.None
	}
	if slices.IsSorted(perm) && suffix != "" {
		return v
	}
	return e.node(graph.Transpose, suffix, []graph.Value{v}, "perm", perm)
}
