package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/tensor"
)

// npyPredictions writes one array for all inputs: the probabilities, or with
// raw outputs the first output.
type npyPredictions struct {
	predictions
	begun bool
}

func (w *npyPredictions) write(_ string, outs []tensor.Tensor) error {
	row := outs[0]
	if !w.raw {
		row = tensor.New(tensor.F32, row.Shape...)
		for i, p := range scores(w.model, outs[0].F32()) {
			row.F32()[i] = float32(p)
		}
	}
	if !w.begun {
		w.begun = true
		if err := npyHeader(w.out, row.DType, append([]int{w.inputs}, row.Shape...)); err != nil {
			return err
		}
	}
	_, err := w.out.Write(row.Bytes)
	return err
}

// npyTypes are the names of types in .npy files, little endian.
var npyTypes = map[tensor.DType]string{
	tensor.F32: "<f4", tensor.F64: "<f8", tensor.I32: "<i4", tensor.I64: "<i8", tensor.U8: "|u1",
}

// npyHeader writes the header of an array in version 1.0 of the format: magic,
// version, length, a Python dictionary, padded with spaces to 64 bytes.
func npyHeader(w io.Writer, d tensor.DType, shape []int) error {
	name, ok := npyTypes[d]
	if !ok {
		return fmt.Errorf("outputs of type %v have no .npy form; use --format json", d)
	}
	axes := ""
	for _, n := range shape {
		axes += strconv.Itoa(n) + ","
	}
	const before, unit = 10, 64 // bytes before the dictionary; what all of it is a multiple of
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", name, axes)
	dict += strings.Repeat(" ", (2*unit-(before+len(dict)+1)%unit)%unit) + "\n"
	_, err := fmt.Fprintf(w, "\x93NUMPY\x01\x00%c%c%s", byte(len(dict)), byte(len(dict)>>8), dict)
	return err
}
