package models

import (
	"fmt"
	"math"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// FileType is the type of an output in the file of another program. The graph computes it
// in f32. If Picks is set for any output, the model has a FileType for each output of the
// file, in the file's order.
type FileType struct {
	Output string       // name of the output
	DType  tensor.DType // one of fileDTypes
	// Picks names an output of the graph. This output is the index of its largest number
	// along its first axis. It is "" for an output of the graph.
	Picks string
	Shape []int // shape of the indices of a sample; set if Picks is
}

// fileDTypes lists the types of outputs in files.
var fileDTypes = []tensor.DType{tensor.F32, tensor.I8, tensor.I16, tensor.I32, tensor.I64, tensor.U8,
	tensor.U16, tensor.U32, tensor.U64, tensor.Bool}

// Check returns an error for a type that files do not have.
func (t FileType) Check() error {
	if t.Output == "" || !slices.Contains(fileDTypes, t.DType) {
		return fmt.Errorf("output %.80q has type %v in its file: want one of %v", t.Output, t.DType, fileDTypes)
	}
	if err := tensor.CheckShape(t.DType, t.Shape); err != nil {
		return fmt.Errorf("output %.80q in its file: %w", t.Output, err)
	}
	return nil
}

// OutputInfo is an output of a model for a sample, in the form of the model's file.
type OutputInfo struct {
	Name   string
	Type   graph.Type // its DType is the file's
	Of     int        // number of the graph's output; if Picked, of the one that it indexes
	Picked bool
	Hosted bool // part of a Tail; a length in Type may be -1, and Of has no meaning
}

// Computed returns output k of the graph of m.
func (m *Model) Computed(k int) OutputInfo {
	f := m.Graph.Main
	o := f.Outputs[k]
	t := f.Values[o.Value].Type
	for _, file := range m.FileTypes {
		if file.Output == o.Name && file.Picks == "" && t.DType == tensor.F32 {
			t.DType = file.DType
		}
	}
	return OutputInfo{Name: o.Name, Type: t, Of: k}
}

// Outputs returns the outputs of m: those of the graph in its order. If the file of another
// program has indices of largest numbers among its outputs, the outputs of the file come
// first, in its order. A model with a Tail has the outputs of the Tail instead.
func (m *Model) Outputs() (list []OutputInfo) {
	if m.Tail != nil {
		return m.Tail.Outputs
	}
	for k := range m.Graph.Main.Outputs {
		list = append(list, m.Computed(k))
	}
	behind := len(list)
	for _, file := range m.FileTypes {
		if o, ok := m.picked(file); ok && !slices.ContainsFunc(list, o.isNamesake) {
			list = append(list, o)
		}
	}
	if len(list) > behind {
		slices.SortStableFunc(list, func(a, b OutputInfo) int { return m.filePosition(a) - m.filePosition(b) })
	}
	return list
}

// picked returns the output of the file that is the index of the largest number of another
// output. ok is false if file is not such an output.
func (m *Model) picked(file FileType) (o OutputInfo, ok bool) {
	f := m.Graph.Main
	k := slices.IndexFunc(f.Outputs, func(o graph.Output) bool {
		return file.Picks != "" && o.Name == file.Picks
	})
	if k < 0 {
		return o, false
	}
	of := f.Values[f.Outputs[k].Value].Type
	if of.DType != tensor.F32 || len(of.Shape) == 0 || tensor.Count(of.Shape[1:]) != tensor.Count(file.Shape) {
		return o, false
	}
	return OutputInfo{Name: file.Output, Type: graph.Type{Kind: of.Kind, DType: file.DType, Shape: file.Shape},
		Of: k, Picked: true}, true
}

func (o OutputInfo) isNamesake(other OutputInfo) bool { return o.Name == other.Name }

// filePosition returns the position of an output in the file, or a position after all of
// them.
func (m *Model) filePosition(o OutputInfo) int {
	k := slices.IndexFunc(m.FileTypes, func(t FileType) bool { return t.Output == o.Name })
	if k < 0 {
		return len(m.FileTypes)
	}
	return k
}

// inFileTypes returns the outputs of m in the order of Outputs, computed from the outputs
// of its graph. Each has the axis of rows.
func (m *Model) inFileTypes(outs []tensor.Tensor) []tensor.Tensor {
	if len(m.FileTypes) == 0 {
		return outs
	}
	var all []tensor.Tensor
	for _, o := range m.Outputs() {
		of := outs[o.Of]
		if !o.Picked {
			all = append(all, converted(of, o.Type.DType))
			continue
		}
		at := argmaxes(of.F32(), of.Shape[1], tensor.Count(of.Shape[2:]))
		all = append(all, converted(tensor.Of(at, append([]int{of.Shape[0]}, o.Type.Shape...)...), o.Type.DType))
	}
	return all
}

// argmaxes returns the index of the largest score of the classes at each position; of equal
// scores the first.
func argmaxes(scores []float32, classes, inner int) []float32 {
	at := make([]float32, len(scores)/classes)
	for i := range at {
		first := i/inner*classes*inner + i%inner
		best := 0
		for k := 1; k < classes; k++ {
			if scores[first+k*inner] > scores[first+best*inner] {
				best = k
			}
		}
		at[i] = float32(best)
	}
	return at
}

// converted returns f32 numbers in another type. NaN, and numbers outside the range of
// an integer type, become its smallest number, as processors do it.
func converted(t tensor.Tensor, d tensor.DType) tensor.Tensor {
	if d == t.DType {
		return t
	}
	x, out := t.F32(), tensor.New(d, t.Shape...)
	switch d {
	case tensor.I64:
		fill(out.I64(), x, math.MinInt64, -math.MinInt64)
	case tensor.I32:
		fill(out.I32(), x, math.MinInt32, -math.MinInt32)
	case tensor.I16:
		fill(tensor.View[int16](out), x, math.MinInt16, -math.MinInt16)
	case tensor.I8:
		fill(tensor.View[int8](out), x, math.MinInt8, -math.MinInt8)
	case tensor.U64:
		fill(tensor.View[uint64](out), x, 0, 1<<64)
	case tensor.U32:
		fill(tensor.View[uint32](out), x, 0, 1<<32)
	case tensor.U16:
		fill(tensor.View[uint16](out), x, 0, 1<<16)
	case tensor.U8:
		fill(out.U8(), x, 0, 1<<8)
	case tensor.Bool:
		for i, v := range x {
			if v != 0 {
				out.Bytes[i] = 1
			}
		}
	}
	return out
}

// integer is a type of integers.
type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

// fill converts numbers to integers. NaN, numbers below low, and numbers of at least limit become low.
func fill[T integer](dst []T, src []float32, low, limit float64) {
	for i, v := range src {
		if v := float64(v); v >= low && v < limit {
			dst[i] = T(v)
		} else {
			dst[i] = T(low)
		}
	}
}
