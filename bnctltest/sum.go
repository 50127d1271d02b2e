package bnctltest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/bnctl/bnctl/inprocess"
	"github.com/bnctl/bnctl/tensor"
)

// rows is the number of samples of a sum.
const rows = 4

// Sum returns the SHA-256, in hexadecimal, of the outputs of a model for the samples of Inputs: the
// elements of all outputs in their order, little-endian.
func Sum(ctx context.Context, p *inprocess.Predictor) (string, error) {
	outputs, err := p.Run(ctx, Inputs(p)...)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, out := range outputs {
		h.Write(out.Bytes)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Inputs returns 4 samples for each input of a model. They are numbers of a generator that any
// language can repeat: s begins as 1 for each input, is replaced by s*6364136223846793005 +
// 1442695040888963407 modulo 2^64 for each element, and its upper bits are the element. It is the
// upper 8 bits for integers (7 for int8, so that it is not negative, and 1 for booleans), and the
// upper 24 bits times 2^-23, minus 1, for floats.
func Inputs(p *inprocess.Predictor) (list []tensor.Tensor) {
	for _, in := range p.Inputs() {
		x := tensor.New(in.Type.DType, append([]int{rows}, in.Type.Shape...)...)
		fill(x)
		list = append(list, x)
	}
	return list
}

// fill writes the numbers of the generator to x.
func fill(x tensor.Tensor) {
	s, size := uint64(1), x.DType.Size()
	for i := range x.Count() {
		s = s*6364136223846793005 + 1442695040888963407
		switch x.DType {
		case tensor.F32:
			x.F32()[i] = float32(s>>40)/(1<<23) - 1
		case tensor.F64:
			x.F64()[i] = float64(s>>40)/(1<<23) - 1
		case tensor.Bool:
			x.Bytes[i] = byte(s >> 63)
		case tensor.I8:
			x.Bytes[i] = byte(s >> 57) // the upper 7 bits, so that the number is not negative
		default: // integers, in little-endian order
			x.Bytes[i*size] = byte(s >> 56)
		}
	}
}
