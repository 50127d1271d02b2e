package node

import (
	"fmt"
	"github.com/bnctl/bnctl/tensor"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/problem"
)

// Permutation reads the new order of the axes of a value with a rank. Without the attribute the
// order is reversed.
func (c *Node) Permutation(rank int) []int {
	perm := make([]int, rank)
	for a := range perm {
		perm[a] = rank - 1 - a
	}
	if c.Attribute("perm") != nil {
		perm = c.Ints("perm", rank, 0)
	}
	for i, a := range perm {
		if a < 0 || a >= rank || slices.Contains(perm[:i], a) {
			c.Fail("attribute perm is %v for rank %d", perm, rank)
			return element.Indices(rank)
		}
	}
	return perm
}

// Dropped reports for each axis whether a Squeeze removes it. It removes the axes in axes or, if hasAxes is
// false, all axes of length 1.
func (c *Node) Dropped(shape []int, axes []int64, hasAxes bool) []bool {
	drop := make([]bool, len(shape))
	for a, length := range shape {
		drop[a] = !hasAxes && length == 1
	}
	for _, a := range axes {
		if at := c.FoldAxis(a, len(shape)); c.Err == nil {
			drop[at] = true
		}
	}
	for a, length := range shape {
		if drop[a] && length != 1 {
			c.Fail("axis %d of %v is not 1", a, shape)
		}
	}
	return drop
}

// Squeezed returns the axes of a Squeeze. For an empty list, two parts of ONNX Runtime disagree: one
// removes all axes of length 1, the other removes no axis.
func (c *Node) Squeezed() (axes []int64, hasAxes bool) {
	axes, hasAxes = c.List("axes", 1)
	if hasAxes && len(axes) == 0 {
		c.Fail("with an empty list of axes, which stands for all of length 1 or for none, is not supported")
	}
	return axes, hasAxes
}

// Padding reads the padding at both ends of each axis of an ONNX operand of the given rank. axis maps
// an axis of the operand to one of the n axes in the graph.
func (c *Node) Padding(rank int, axis func(int64) int, n int) (begins, ends []int) {
	begins, ends = make([]int, n), make([]int, n)
	pads, _ := c.List("pads", 1)
	axisCount := rank
	axes, given := c.List("axes", 3)
	if given {
		axisCount = len(axes)
	}
	if len(pads) != 2*axisCount {
		c.Fail("%d pads for %d axes", len(pads), axisCount)
	}
	for i := 0; i < axisCount && c.Err == nil; i++ {
		a := int64(i)
		if given {
			a = axes[i]
		}
		b, e := pads[i], pads[i+axisCount]
		switch {
		case min(b, e) < -1<<30 || max(b, e) > 1<<30:
			c.Fail("pads are %v", pads)
		case b != 0 || e != 0:
			if at := axis(a); c.Err == nil {
				begins[at], ends[at] = int(b), int(e)
			}
		}
	}
	return begins, ends
}

// Sizes returns the ranges of a Split along an axis, one for each result. Their lengths are
// given, or equal.
func (c *Node) Sizes(s []int, axis int) (ranges [][]Span) {
	sizes, given := c.List("split", 1)
	if n := len(c.Proto.Output); !given && n > 0 {
		each := int64(Ceil(s[axis], n))
		for i := range int64(n) {
			sizes = append(sizes, min(each, int64(s[axis])-i*each))
		}
	}
	if wanted := c.Int("num_outputs", len(c.Proto.Output)); wanted != len(c.Proto.Output) ||
		len(sizes) != wanted {
		c.Fail("has %d results, and num_outputs %d and parts %v", len(c.Proto.Output), wanted, sizes)
		return nil
	}
	at := int64(0)
	for _, n := range sizes {
		spans := make([]Span, len(s))
		for a := range s {
			spans[a] = Span{End: s[a], Step: 1, Count: s[a]}
		}
		if n < 1 || n > int64(s[axis])-at {
			c.Fail("into parts of %v of an axis of %d", sizes, s[axis])
			return nil
		}
		spans[axis] = Span{int(at), int(at + n), 1, int(n)}
		at += n
		ranges = append(ranges, spans)
	}
	if at != int64(s[axis]) {
		c.Fail("into parts of %v of an axis of %d", sizes, s[axis])
	}
	return ranges
}

// ScalesAxis reports whether a node has a scale for each index of an axis.
func (c *Node) ScalesAxis() bool {
	return len(c.In) > 1 && c.In[1].IsConstant() && c.In[1].Tensor.Count() > 1
}

// Letters returns a letter for each axis of the operands and of the result of an Einsum. The axes of
// "..." get letters that are not in the equation. If the equation has no result, the result has the
// letters that occur once, in their order.
func (c *Node) Letters() (terms []string, result string, ok bool) {
	equation := strings.ReplaceAll(c.Text("equation", ""), " ", "")
	left, result, named := strings.Cut(equation, "->")
	if terms = strings.Split(left, ","); len(terms) != len(c.In) {
		return nil, "", false
	}
	const alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	unused := strings.Map(func(r rune) rune {
		if strings.ContainsRune(equation, r) {
			return -1
		}
		return r
	}, alphabet)
	longest := 0
	for i, term := range terms {
		before, after, has := strings.Cut(term, ellipsis)
		if n := c.fileRank(i) - len(before) - len(after); has {
			if n < 0 || n > len(unused) {
				return nil, "", false
			}
			longest = max(longest, n)
		}
	}
	for i, term := range terms {
		before, after, has := strings.Cut(term, ellipsis)
		if has {
			n := c.fileRank(i) - len(before) - len(after)
			terms[i] = before + unused[longest-n:longest] + after
		}
	}
	if !named {
		result = ellipsis
		for _, letter := range alphabet {
			if strings.Count(left, string(letter)) == 1 {
				result += string(letter)
			}
		}
	}
	if longest > 0 && !strings.Contains(result, ellipsis) {
		return nil, "", false
	}
	result = strings.Replace(result, ellipsis, unused[:longest], 1)
	for _, letter := range strings.Join(terms, "") + result {
		if !strings.ContainsRune(alphabet, letter) {
			return nil, "", false
		}
	}
	return terms, result, true
}

// fileRank returns the rank of operand i in the file.
func (c *Node) fileRank(i int) int {
	if c.In[i].IsConstant() {
		return len(c.In[i].Tensor.Shape)
	}
	return c.Rank(i)
}

// FailOfEquation records an error for an equation that does not fit its operands.
func (c *Node) FailOfEquation() {
	c.Fail("of the equation %.80q does not fit %s", c.Text("equation", ""), problem.Plural(len(c.In), "operand"))
}

// Resolve returns the target shape of a Reshape as lengths. A 0 copies a length, unless zero is set. A
// single -1 becomes the remaining length.
func Resolve(target []int64, lengths []int, zero bool) ([]int, error) {
	n, rest, open := tensor.Count(lengths), 1, -1
	if len(target) > tensor.MaxRank {
		return nil, fmt.Errorf("a shape of rank %d", len(target))
	}
	shape := make([]int, len(target))
	for i, t := range target {
		switch {
		case t == -1 && open < 0:
			open = i
			continue
		case t == 0 && !zero && i < len(lengths):
			t = int64(lengths[i])
		}
		if t < 0 || t > 1<<30 || t > 0 && rest > 1<<40/int(t) {
			return nil, fmt.Errorf("the shape %v", target)
		}
		shape[i] = int(t)
		rest *= shape[i]
	}
	if open >= 0 && rest > 0 && n%rest == 0 {
		shape[open] = n / rest
		rest = n
	}
	if rest != n {
		return nil, fmt.Errorf("the shape %v for %v, which has %d elements", target, lengths, n)
	}
	return shape, nil
}

// Ceil returns n/divisor, rounded up.
func Ceil(n, divisor int) int { return (n + divisor - 1) / divisor }

const ellipsis = "..."
