package onnx

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats/onnx/internal/batchaxis"
	"github.com/bnctl/bnctl/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

func init() {
	register(operators{
		"Einsum": {attributes: accept(node.ManyOperands, "equation"),
			refused: "of more than two operands that are not constant; letters that a constant beside a value " +
				"sums, or that an operand has twice", make: oneResult(einsumOf), fold: fold.One(fold.Einsum),
			batch: batchaxis.Einsum},
	})
}

// Einsum of two operands is a product of matrices. There are three kinds of letters: letters of both
// operands that the result keeps are leading axes, letters of both that the result lacks are summed,
// and the others belong to one operand.
//
//	bqhd,bkhd->bhqk    leading b h, left q, right k, summed d

// einsum creates the nodes of one Einsum.
type einsum struct {
	*call
	letters map[byte]int // the length of each axis
	result  string
}

func einsumOf(c *call) graph.Value {
	e, terms := equation(c)
	if e == nil {
		return graph.None
	}
	in := make([]graph.Value, len(terms))
	for i, term := range terms {
		if in[i] = e.operand(i, term); c.Err != nil {
			return graph.None
		}
	}
	for i := range terms {
		if e.IsDynamic(i) {
			in[i], terms[i] = e.summed(i, in[i], terms)
		}
	}
	if len(terms) == 1 {
		return e.turn("", in[0], terms[0], e.result)
	}
	return e.product(in, terms)
}

// equation parses the equation, and removes the letter of the batch, which must be the first
// letter of each term.
func equation(c *call) (e *einsum, terms []string) {
	given := c.Text("equation", "")
	terms, result, ok := c.Letters()
	if !ok {
		c.FailOfEquation()
		return nil, nil
	}
	if len(terms) > 2 {
		c.Fail("of the equation %.80q of %d operands is not supported, only of one or two", given, len(c.In))
		return nil, nil
	}
	if !c.Unbatched {
		for i, term := range append(slices.Clone(terms), result) {
			if i < len(terms) && c.In[i].IsConstant() {
				continue
			}
			if term == "" || result == "" || term[0] != result[0] {
				c.FailAcrossBatch("of the equation %.80q works along the batch axis", given)
				return nil, nil
			}
			if i < len(terms) {
				terms[i] = term[1:]
			}
		}
		batch := result[0]
		result = result[1:]
		for i, term := range append(slices.Clone(terms), result) {
			weight := i < len(terms) && c.In[i].IsConstant()
			if slices.Contains([]byte(term), batch) && !(weight && drops(c, i, &terms[i], batch)) {
				c.FailAcrossBatch("of the equation %.80q works along the batch axis", given)
				return nil, nil
			}
		}
	}
	return &einsum{call: c, letters: map[byte]int{}, result: result}, terms
}

// drops removes the batch's letter from the term of a constant. The axis must have length
// 1.
func drops(c *call, i int, term *string, batch byte) bool {
	t := c.In[i].Tensor
	if (*term)[0] != batch || len(t.Shape) != len(*term) || t.Shape[0] != 1 {
		return false
	}
	c.In[i].Tensor = t.Reshape(t.Shape[1:]...)
	*term = (*term)[1:]
	return true
}

// operand returns operand i without its batch axis. term has the letters of its axes.
func (e *einsum) operand(i int, term string) graph.Value {
	v := graph.None
	if e.IsDynamic(i) {
		v = e.Dynamic(i)
	} else if t, ok := e.Constant(i); ok {
		v = e.state(i, graph.Weight, t.Shape...)
	}
	if e.Err != nil || v == graph.None {
		return graph.None
	}
	shape := e.g.Type(v).Shape
	if len(shape) != len(term) {
		e.Fail("operand %d has the shape %v for the letters %q", i, shape, term)
		return graph.None
	}
	for a := range term {
		switch n, ok := e.letters[term[a]]; {
		case slices.Contains([]byte(term[:a]), term[a]):
			e.Fail("operand %d has the letter %q twice, which is not supported", i, term[a])
		case ok && n != shape[a]:
			e.Fail("the letter %q stands for lengths of %d and %d", term[a], n, shape[a])
		}
		e.letters[term[a]] = shape[a]
	}
	return v
}

// summed sums operand i over the letters that occur neither in the other operand nor in the result. It
// returns the sum and the remaining letters.
func (e *einsum) summed(i int, v graph.Value, terms []string) (graph.Value, string) {
	elsewhere := e.result
	for k, term := range terms {
		if k != i {
			elsewhere += term
		}
	}
	var axes []int
	var left string
	for a, letter := range terms[i] {
		if strings.ContainsRune(elsewhere, letter) {
			left += string(letter)
		} else {
			axes = append(axes, a)
		}
	}
	if axes == nil {
		return v, left
	}
	return e.node(graph.ReduceSum, fmt.Sprintf(".sum%d", i), []graph.Value{v}, "axes", axes), left
}

// product multiplies two operands.
func (e *einsum) product(operands []graph.Value, terms []string) graph.Value {
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
			e.Fail("sums the letter %q of a constant, which is not supported", letter)
		}
	}
	for _, letter := range terms[1] {
		if has(terms[0], letter) {
			continue
		}
		if right += string(letter); !has(e.result, letter) {
			e.Fail("sums the letter %q of a constant, which is not supported", letter)
		}
	}
	a := e.grouped(".left", operands[0], terms[0], leading, left, summed)
	b := e.grouped(".right", operands[1], terms[1], leading, right, summed)
	v := e.node(graph.MatMul, ".matrix", []graph.Value{a, b}, "transpose_b", true)
	v = e.node(graph.Reshape, ".axes", []graph.Value{v}, "shape", e.lengths(leading+left+right))
	return e.turn("", v, leading+left+right, e.result)
}

// grouped reshapes an operand to the axes in leading, followed by one axis for each group
// of letters.
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

// turn permutes the axes of a value.
func (e *einsum) turn(suffix string, v graph.Value, oldAxes, newAxes string) graph.Value {
	var perm []int
	for i := range newAxes {
		at := slices.Index([]byte(oldAxes), newAxes[i])
		if at < 0 || slices.Contains(perm, at) {
			e.Fail("makes the letter %q, which no operand has, or twice", newAxes[i])
			return graph.None
		}
		perm = append(perm, at)
	}
	if slices.IsSorted(perm) && suffix != "" {
		return v
	}
	return e.node(graph.Transpose, suffix, []graph.Value{v}, "perm", perm)
}
