package keras

import (
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// input declares the model's input.
func (s *scope) input(l *layer) (flow, error) {
	shape, err := s.inputShape(l)
	if err != nil {
		return flow{}, fmt.Errorf("layer %.80q (InputLayer): %w", l.name, err)
	}
	t := graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: s.graphInput(shape)}
	v := s.g.Input(s.label(s.path+l.name, l), t)
	return flow{v: v, shape: shape, kerasOrder: s.keepsKerasOrder(len(shape)), logits: graph.None}, s.g.Err()
}

// inputShape returns the shape of the input in Keras, without the batch.
func (s *scope) inputShape(l *layer) ([]int, error) {
	f := fields{m: l.fields.m}
	var batch []*int
	f.into("batch_shape", &batch, "a list of lengths")
	if f.err != nil {
		return nil, f.err
	}
	if n := len(batch); n == 1 || n > tensor.MaxRank {
		return nil, fmt.Errorf("a sample of %d axes; 1 to %d are supported", n-1, tensor.MaxRank-1)
	}
	if len(batch) == 0 {
		if n := len(s.givenShape); n > 0 && n < tensor.MaxRank {
			return s.kerasShape(s.givenShape), nil
		}
		return nil, problem.Failure("", "the file does not say how large the input is",
			"say it with {input} 3,224,224")
	}
	shape, open := make([]int, len(batch)-1), false
	for i, n := range batch[1:] {
		if n == nil {
			shape[i], open = -1, true
			continue
		}
		shape[i] = *n
	}
	if s.givenShape == nil && !open {
		return shape, nil
	}
	if s.givenShape == nil {
		return nil, problem.Failure("", fmt.Sprintf("the input's size is open: %s", f.m["batch_shape"]),
			"say it with {input} "+s.example(shape))
	}
	for _, given := range [][]int{s.kerasShape(s.givenShape), s.givenShape} {
		if fits(given, shape) {
			return given, nil
		}
	}
	return nil, problem.Failure("", fmt.Sprintf("the input's size is %s, batch first, which {input} %s "+
		"does not fit", f.m["batch_shape"], commas(s.givenShape)), "")
}

// graphInput returns the shape of a sample at the model's input, for a shape of Keras.
func (b *build) graphInput(shape []int) []int {
	if b.keepsKerasOrder(len(shape)) {
		return shape
	}
	return b.graphShape(shape)
}

// kerasShape returns the shape in Keras for a shape at the model's input.
func (b *build) kerasShape(shape []int) []int {
	if b.keepsKerasOrder(len(shape)) {
		return shape
	}
	out := make([]int, len(shape))
	for i, a := range b.toKeras(len(shape)) {
		out[i] = shape[a]
	}
	return out
}

// fits reports whether given agrees with all lengths of shape that are not open.
func fits(given, shape []int) bool {
	for i := range shape {
		if len(given) != len(shape) || shape[i] >= 0 && shape[i] != given[i] {
			return false
		}
	}
	return true
}

// example replaces the open lengths of the input's shape by usual ones.
func (b *build) example(shape []int) string {
	lengths := append([]int{}, b.graphInput(shape)...)
	for i, n := range lengths {
		if n < 0 {
			lengths[i] = 224
		}
		if n < 0 && i == 0 && len(lengths) == 3 {
			lengths[i] = 3
		}
	}
	return commas(lengths)
}

func commas(lengths []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(lengths), "[]"), " ", ",")
}
