package models

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Tail is the end of the file of another program that has no counterpart in the graph, because its
// results have a different length for each sample: non-maximum suppression, and nodes that follow
// it. The host computes it. No file of bnctl's formats has a tail: see CheckWhole.
type Tail struct {
	Outputs []OutputInfo // outputs of the file, in its order
	Nodes   int
	// Run returns the outputs of the file for one sample. outs are the outputs of the graph for the sample,
	// in the types of the file and without an axis of rows. It may be called at the same time by several
	// goroutines.
	Run func(outs []tensor.Tensor) ([]tensor.Tensor, error)
}

// FileRows returns the outputs of m in the order of Outputs for each row, computed from the outputs of
// its graph. They have no axis of rows.
func (m *Model) FileRows(outs []tensor.Tensor) (rows [][]tensor.Tensor, err error) {
	if m.Tail == nil {
		outs = m.inFileTypes(outs)
	} else {
		outs = m.computedTypes(outs)
	}
	for i := range outs[0].Shape[0] {
		row := make([]tensor.Tensor, len(outs))
		for k, o := range outs {
			row[k] = o.Rows(i, i+1)
			row[k].Shape = row[k].Shape[1:]
		}
		if m.Tail != nil {
			if row, err = m.Tail.Run(row); err != nil {
				return nil, fmt.Errorf("the end of model %s: %w", m.Architecture, err)
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// FileOutputs returns the outputs of m in the order of Outputs, computed from the outputs of its graph.
// Each has an axis of rows. It is an error if a Tail has results of different lengths for the rows.
func (m *Model) FileOutputs(outs []tensor.Tensor) ([]tensor.Tensor, error) {
	if m.Tail == nil {
		return m.inFileTypes(outs), nil
	}
	rows, err := m.FileRows(outs)
	if err != nil {
		return nil, err
	}
	var all []tensor.Tensor
	for k, o := range m.Tail.Outputs {
		first := rows[0][k]
		var joined bytes.Buffer
		for i, row := range rows {
			if !slices.Equal(row[k].Shape, first.Shape) {
				return nil, problem.Advise("ask for one row at a time",
					"output %s is %v for row 0 and %v for row %d, so that they are not one array", o.Name, first,
					row[k], i)
			}
			joined.Write(row[k].Bytes)
		}
		x, err := tensor.FromBytes(first.DType, append([]int{len(rows)}, first.Shape...), joined.Bytes())
		if err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	return all, nil
}

// computedTypes returns the outputs of the graph in the types of the file.
func (m *Model) computedTypes(outs []tensor.Tensor) []tensor.Tensor {
	all := slices.Clone(outs)
	for k := range all {
		all[k] = converted(all[k], m.Computed(k).Type.DType)
	}
	return all
}

// CheckWhole returns an error if the graph is not the whole model.
func (m *Model) CheckWhole() error {
	if m.Tail == nil {
		return nil
	}
	return problem.Advise("use the ONNX file itself, or export it without its non-maximum suppression",
		"the last %s of model %s are computed on the host, and only an ONNX file has them",
		problem.Plural(m.Tail.Nodes, "node"), m.Architecture)
}
