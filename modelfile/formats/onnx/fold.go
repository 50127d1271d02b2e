package onnx

import (
	"fmt"

	"github.com/bnctl/bnctl/tensor"
)

// folds is the closed list of operators that are computed when the file is
// read: from constants, or, as Shape does, from the shape of a value.
var folds map[string]func(*call) numbers

func init() { // the folds refer to the table's users
	folds = map[string]func(*call) numbers{
		"Constant": foldConstant, "ConstantOfShape": foldConstantOfShape, "Shape": foldShape,
		"Identity": foldIdentity, "Cast": foldCast,
		"QuantizeLinear": foldQuantize, "DequantizeLinear": foldDequantize,
		"Gather": foldGather, "Slice": foldSlice, "Concat": foldConcat, "Transpose": foldTranspose,
		"Reshape": foldReshape, "Squeeze": foldSqueeze, "Unsqueeze": foldUnsqueeze,
		"Add": foldBinary, "Sub": foldBinary, "Mul": foldBinary, "Div": foldBinary,
		"Neg": foldUnary, "Floor": foldUnary, "Ceil": foldUnary, "Sqrt": foldUnary, "Exp": foldUnary,
	}
}

// fold computes a constant.
func (c *call) fold(f func(*call) numbers) value {
	n := f(c)
	if c.err != nil {
		return constant(tensor.Tensor{})
	}
	return constant(n.tensor())
}

// takes checks that a constant may be computed that has a shape and elements of type d.
func (c *call) takes(d tensor.DType, shape []int) bool {
	size, err := tensor.Size(d, shape)
	if err != nil {
		c.fail("%w", err)
	} else if c.room -= size; c.room < 0 {
		c.fail("%w", c.noRoom())
	}
	return c.err == nil
}

func (r *reader) noRoom() error {
	return fmt.Errorf("the constants that are computed or converted take more than %d MiB and %d times the "+
		"size of the file", maxFolded>>20, foldedTimes)
}

// numbers returns operand i of a fold.
func (c *call) numbers(i int) numbers {
	t, ok := c.constant(i)
	if !ok {
		c.fail("operand %d is absent", i)
		return numbers{shape: []int{0}}
	}
	return c.converted(t)
}

// converted returns the elements of t; if they have to be copied, there must be room.
func (c *call) converted(t tensor.Tensor) numbers {
	if t.DType != tensor.F32 && t.DType != tensor.I64 && !c.takes(computedAs(t.DType), t.Shape) {
		return numbers{shape: []int{0}}
	}
	n, err := toNumbers(t)
	if err != nil {
		c.fail("%w", err)
		return numbers{shape: []int{0}}
	}
	return n
}

// foldAxis is axis for constants, which have no batch axis.
func (c *call) foldAxis(a int64, rank int) int {
	if a < 0 {
		a += int64(rank)
	}
	if a < 0 || a >= int64(rank) {
		c.fail("axis %d of a constant of rank %d", a, rank)
		return 0
	}
	return int(a)
}

func foldIdentity(c *call) numbers { return c.numbers(0) }

// foldCast turns integers into floats and back, towards zero. Integers keep the
// low bits that their type has, as C does it; of bool all but zero is true.
func foldCast(c *call) numbers {
	n := c.numbers(0)
	d, err := dtype(int32(c.int("to", 0)))
	if err != nil {
		c.fail("%w", err)
	}
	if c.err != nil || !c.takes(tensor.I64, n.shape) {
		return n
	}
	if isFloat(d) {
		return c.toFloats(n)
	}
	out := numbers{shape: n.shape, i: make([]int64, max(len(n.i), len(n.f)))}
	for k, v := range n.f {
		if !(v >= -1<<63 && v < 1<<63) && d != tensor.Bool {
			c.fail("of %v to an integer has no result", v)
			return n
		}
		if out.i[k] = int64(v); d == tensor.Bool && v != 0 {
			out.i[k] = 1
		}
	}
	copy(out.i, n.i)
	if d != tensor.I64 {
		c.narrow(out.i, d)
	}
	return out
}

// toFloats converts integers.
func (c *call) toFloats(n numbers) numbers {
	if n.f != nil {
		return n
	}
	f := numbers{shape: n.shape, f: make([]float32, len(n.i))}
	for k, v := range n.i {
		c.known(v)
		f.f[k] = float32(v)
	}
	return f
}

// narrow leaves of integers what a type can hold. The length of the batch fits into 32 bits.
func (c *call) narrow(l []int64, d tensor.DType) {
	for k, v := range l {
		if v == anyBatch && d.Size() >= 4 {
			continue
		}
		c.known(v)
		switch d {
		case tensor.Bool:
			if v != 0 {
				l[k] = 1
			}
		case tensor.I8:
			l[k] = int64(int8(v))
		case tensor.U8:
			l[k] = int64(uint8(v))
		case tensor.I16:
			l[k] = int64(int16(v))
		case tensor.U16:
			l[k] = int64(uint16(v))
		case tensor.I32:
			l[k] = int64(int32(v))
		case tensor.U32:
			l[k] = int64(uint32(v))
		}
	}
}

// known fails if v stands for the length of the batch.
func (c *call) known(v int64) {
	if v == anyBatch {
		c.fail("computes with the length of the batch")
	}
}
