package onnx

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/problem"
)

// sample returns the shape of one sample: the lengths that the file specifies after the batch, and the
// given lengths for those that it leaves open.
func (r border) sample(declared *onnxpb.TensorShapeProto) ([]int, error) {
	if declared == nil {
		if r.inputShape == nil {
			return nil, problem.Failure("", "its shape is not in the file", "say it with {input} C,H,W")
		}
		return r.inputShape, nil
	}
	if r.whole {
		r.shared.Batch = 1
		return lengthsOf(declared.Dim), nil
	}
	if len(declared.Dim) == 0 && r.inputShape != nil {
		return r.inputShape, nil
	}
	if len(declared.Dim) == 0 {
		return nil, errors.New("a scalar has no axis for the batch")
	}
	r.shared.Batch = declared.Dim[0].GetDimValue()
	dims := declared.Dim[1:]
	lengths := lengthsOf(dims)
	for _, d := range dims {
		if n := d.GetDimValue(); n > maxLength {
			return nil, fmt.Errorf("a length of %d, want at most %d", n, maxLength)
		}
	}
	switch {
	case r.inputShape != nil:
		return r.closed(dims, lengths)
	case slices.Contains(lengths, 0):
		return nil, problem.Failure("", fmt.Sprintf("its size %s is open", described(dims, lengths)),
			"say it with {input} "+example(lengths))
	}
	return lengths, nil
}

// maxLength is the maximum length of an axis.
const maxLength = 1 << 30

// lengthsOf returns the lengths of a shape. Open lengths are 0.
func lengthsOf(dims []*onnxpb.TensorShapeProto_Dimension) []int {
	lengths := make([]int, len(dims))
	for i, d := range dims {
		if n := d.GetDimValue(); n >= 1 && n <= maxLength {
			lengths[i] = int(n)
		}
	}
	return lengths
}

// closed returns the given lengths in the file's order, if they agree with the fixed ones. If they
// agree only with the channels last, it moves the channels to their place in the file's order.
func (r border) closed(dims []*onnxpb.TensorShapeProto_Dimension, fixed []int) ([]int, error) {
	agree := func(given []int) bool {
		for i, n := range fixed {
			if n != 0 && n != given[i] {
				return false
			}
		}
		return true
	}
	g := r.inputShape
	if len(g) == len(fixed) && agree(g) {
		return g, nil
	}
	if len(g) == 3 && len(fixed) == 3 {
		if last := []int{g[1], g[2], g[0]}; agree(last) {
			return last, nil
		}
	}
	return nil, problem.Failure("", fmt.Sprintf("its size is %s, which {input} %s does not fit",
		described(dims, fixed), commas(g)), "")
}

// described formats lengths, with names for open ones: "[3,height,width]".
func described(dims []*onnxpb.TensorShapeProto_Dimension, lengths []int) string {
	var s []string
	for i, n := range lengths {
		switch name := dims[i].GetDimParam(); {
		case n != 0:
			s = append(s, fmt.Sprint(n))
		case name == "":
			s = append(s, "?")
		default:
			s = append(s, fmt.Sprintf("%.40q", name))
		}
	}
	return "[" + strings.Join(s, ",") + "]"
}

// example replaces open lengths by common ones, for the example in a message.
func example(lengths []int) string {
	e := slices.Clone(lengths)
	for i, n := range e {
		if n == 0 {
			e[i] = 224
		}
	}
	if len(e) == 3 && lengths[0] == 0 && e[2] > 4 { // the channels come first
		e[0] = 3
	}
	if len(e) == 3 && e[2] <= 4 {
		e = []int{e[2], e[0], e[1]}
	}
	return commas(e)
}

func commas(lengths []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(lengths), " ", ","), "[]")
}
