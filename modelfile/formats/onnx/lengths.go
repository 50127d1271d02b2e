package onnx

import (
	"slices"

	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/modelfile/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// PyTorch's exporter joins lengths as floats where it writes as_strided as a loop: they are integers again
// before anything has them for a shape. Such lists are kept as the integers that they are.

// takesLengths reports whether a node makes floats of the length of the batch, or takes such.
func (c *call) takesLengths(op string) bool {
	if slices.ContainsFunc(c.in, value.isLengths) {
		return true
	}
	if op != "Cast" || !c.tracked() || len(c.in) != 1 || !c.in[0].isConstant() || !c.in[0].hasLength() {
		return false
	}
	d, err := onnxpb.DType(int32(c.int("to", 0)))
	return err == nil && d == tensor.F32
}

// joinLengths reads a node that takesLengths.
func (c *call) joinLengths(op string) error {
	if err := attributes[op].check(&c.Node); err != nil {
		return err
	}
	switch d, err := onnxpb.DType(int32(c.int("to", 0))); {
	case op == "Cast" && err == nil && d == tensor.I64 && c.in[0].lengths:
		return c.store(op, []value{constant(c.in[0].c)})
	case op == "Cast" && err == nil && d == tensor.F32 && !c.in[0].lengths:
		return c.store(op, []value{floatLengths(castConstant(&c.Node, c.in[0].c, tensor.I64))})
	case op == "Concat" && c.int("axis", 1) == 0:
		return c.joinLists()
	}
	return errLength
}

// joinLists is a Concat of lists of lengths, and of constants that are such.
func (c *call) joinLists() error {
	var all []int64
	for _, x := range c.in {
		if !x.lengths && !x.isConstant() || len(x.c.Shape) != 1 {
			return errLength
		}
		if x.lengths {
			all = append(all, x.c.I64()...)
			continue
		}
		at, err := element.Reals(x.c)
		if err != nil {
			return errLength
		}
		for k := range x.c.Count() {
			v := at(k)
			if !(v >= 0 && v < 1<<24) || v != float64(int64(v)) {
				return errLength
			}
			all = append(all, int64(v))
		}
	}
	return c.store("Concat", []value{floatLengths(tensor.Of(all, len(all)))})
}
