package onnx

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// closeShapes sets the shape of a sample of each input: the lengths that the file specifies, and the
// given lengths for those that it leaves open. A length that is given for a named axis holds for all
// axes of that name.
func (r border) closeShapes(inputs []*fileInput) error {
	if err := r.checkGiven(inputs); err != nil {
		return err
	}
	known := map[string]int{}
	if r.shared.Batch == 1 {
		for _, x := range inputs {
			if x.batched && x.lengths[0] == 0 {
				known[x.dims[0].GetDimParam()] = 1 // the whole input is one sample
			}
		}
	}
	for _, x := range inputs {
		given, named := r.inputShapes[x.name]
		if x.field.Shape = x.sample(); !named && slices.Contains(x.field.Shape, 0) {
			given = r.inputShape
		}
		if given == nil {
			continue
		}
		if !fitsLengths(x.field.Shape, given) {
			return fmt.Errorf("input %.80q: %w", x.name, problem.Failure("", fmt.Sprintf("its size is %s, which "+
				"{input} %s does not fit", described(x.sampleDims(), x.field.Shape), commas(given)), ""))
		}
		for i, n := range given {
			if param := x.sampleDims()[i].GetDimParam(); x.field.Shape[i] == 0 {
				known[param] = n
			}
		}
		x.field.Shape = slices.Clone(given)
	}
	delete(known, "")
	for _, x := range inputs {
		for i, n := range x.field.Shape {
			if n == 0 {
				x.field.Shape[i] = known[x.sampleDims()[i].GetDimParam()]
			}
		}
	}
	return openShapes(inputs)
}

// checkGiven returns an error if a shape is given for an input that the file does not have.
func (r border) checkGiven(inputs []*fileInput) error {
	for _, name := range slices.Sorted(maps.Keys(r.inputShapes)) {
		if !slices.ContainsFunc(inputs, func(x *fileInput) bool { return x.name == name }) {
			return problem.Failure("", fmt.Sprintf("{input} gives a size for %.80q, and the inputs are %s", name,
				describeInputs(inputs)), "")
		}
	}
	return nil
}

// openShapes returns an error that lists the inputs with open lengths.
func openShapes(inputs []*fileInput) error {
	var open, examples []string
	for _, x := range inputs {
		if s := x.field.Shape; slices.Contains(s, 0) {
			open = append(open, fmt.Sprintf("%.80q is %s", x.name, described(x.sampleDims(), s)))
			examples = append(examples, x.name+"="+example(s))
		}
	}
	if open == nil {
		return nil
	}
	return problem.Failure("", "the size of inputs is open: "+strings.Join(open, ", "),
		"say it with {input} "+strings.Join(examples, ","))
}

// fitsLengths reports whether given has the fixed lengths.
func fitsLengths(fixed, given []int) bool {
	if len(fixed) != len(given) {
		return false
	}
	for i, n := range fixed {
		if n != 0 && n != given[i] {
			return false
		}
	}
	return true
}
