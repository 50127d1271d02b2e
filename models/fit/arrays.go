package fit

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Converter makes samples of the array of an .npy file, given the name of the file: the
// field Array of data.Options.
type Converter func(name string, x tensor.Tensor) (tensor.Tensor, error)

// Arrays returns the Converter for m. Pictures become u8 [N,H,W,C], other arrays f32 of the
// shape of m's input. note is called with messages about conversions; it may be nil. An
// array with more than one possible meaning is an error that describes the valid arrays.
func Arrays(m *models.Model, note func(format string, args ...any)) Converter {
	a := arrayFile{m: m, log: note, image: imageOf(m)}
	return func(name string, x tensor.Tensor) (tensor.Tensor, error) {
		a.name, a.description = name, tensor.Describe(x.DType, x.Shape)
		if len(x.Shape) == 0 {
			return x, nil // the caller refuses a single number: it has no samples
		}
		if a.image == nil {
			return a.numbers(x)
		}
		if x.DType == tensor.F32 || x.DType == tensor.F64 {
			return a.processed(x)
		}
		return a.pictures(x)
	}
}

// ZooArrays does the same as Arrays for a model of the zoo before it is built for the data (Zoo):
// integers are pictures of any size, floats stay unchanged.
func ZooArrays(note func(format string, args ...any)) Converter {
	return func(name string, x tensor.Tensor) (tensor.Tensor, error) {
		if len(x.Shape) == 0 || x.DType == tensor.F32 || x.DType == tensor.F64 {
			return x, nil
		}
		a := arrayFile{log: note, name: name, description: tensor.Describe(x.DType, x.Shape)}
		return a.pictures(x)
	}
}

// LikelyArrays is like ZooArrays but without a known model: an array that cannot be pictures stays
// unchanged. note must not be nil.
func LikelyArrays(note func(format string, args ...any)) Converter {
	return func(name string, x tensor.Tensor) (tensor.Tensor, error) {
		var notes []string
		pictures, err := ZooArrays(func(format string, args ...any) {
			notes = append(notes, fmt.Sprintf(format, args...))
		})(name, x)
		if err != nil {
			return x, nil
		}
		for _, n := range notes {
			note("%s", n)
		}
		return pictures, nil
	}
}

// arrayFile is an array that is converted to samples of a model.
type arrayFile struct {
	m           *models.Model                    // nil: pictures of any size, grey or in colour
	log         func(format string, args ...any) // nil: nothing is logged
	image       *graph.Node                      // the model's preprocessing of pictures; nil without
	name        string
	description string // type and shape of the array in the file
}

// imageOf returns the image operation on the input of m, or nil.
func imageOf(m *models.Model) *graph.Node {
	f := m.Graph.Main
	for i := range f.Nodes {
		if n := &f.Nodes[i]; n.Op == graph.Image && n.In[0] == f.Inputs[0] {
			return n
		}
	}
	return nil
}

func (a *arrayFile) note(format string, args ...any) {
	if a.log != nil {
		a.log("%s: %s %s", a.name, a.description, fmt.Sprintf(format, args...))
	}
}

// pictures converts integers to pictures: bytes [n, H, W, C].
func (a *arrayFile) pictures(x tensor.Tensor) (tensor.Tensor, error) {
	if x.DType != tensor.U8 {
		b, err := bytesOf(x)
		if err != nil {
			return x, fmt.Errorf("%s: %w; the model takes pictures as uint8 [N,H,W,C], or floats that are "+
				"normalised already", a.description, err)
		}
		a.note("is taken as uint8: all values are whole numbers from 0 to 255")
		x = b
	}
	colours := func(axis int) bool { return x.Shape[axis] == 1 || x.Shape[axis] == 3 }
	switch rank := len(x.Shape); {
	case rank == 4 && colours(3):
		return x, nil
	case rank == 4 && colours(1):
		a.note("is taken as pictures [N,C,H,W] and turned to [N,H,W,C]")
		return channelsToEnd(x), nil
	case rank == 3 && (a.m == nil || a.m.Input().Shape[2] == 1):
		a.note("is taken as grey pictures [N,H,W]")
		return tensor.FromBytes(tensor.U8, append(slices.Clone(x.Shape), 1), x.Bytes)
	}
	return x, fmt.Errorf("%s: no pictures; the model takes uint8 [N,H,W,C] with 1 or 3 channels", a.description)
}

// bytesOf converts integers without loss.
func bytesOf(x tensor.Tensor) (tensor.Tensor, error) {
	out := tensor.New(tensor.U8, x.Shape...)
	for i := range out.Bytes {
		v := int64(0)
		switch x.DType {
		case tensor.I32:
			v = int64(x.I32()[i])
		case tensor.I64:
			v = x.I64()[i]
		default:
			return x, errors.New("not of a type of pictures")
		}
		if v < 0 || v > math.MaxUint8 {
			return x, fmt.Errorf("%d is among the values, and those of pictures are 0 to 255", v)
		}
		out.Bytes[i] = byte(v)
	}
	return out, nil
}

// channelsToEnd turns bytes [n,C,H,W] to [n,H,W,C].
func channelsToEnd(x tensor.Tensor) tensor.Tensor {
	n, c, pixels := x.Shape[0], x.Shape[1], x.Shape[2]*x.Shape[3]
	out := tensor.New(tensor.U8, n, x.Shape[2], x.Shape[3], c)
	for i := range n {
		for k := range c {
			for p := range pixels {
				out.Bytes[(i*pixels+p)*c+k] = x.Bytes[(i*c+k)*pixels+p]
			}
		}
	}
	return out
}

// processed checks an array of floats in the form of pictures after the model's
// preprocessing. It returns an error for values that the preprocessing of a picture cannot
// give, because they mean something else.
func (a *arrayFile) processed(x tensor.Tensor) (tensor.Tensor, error) {
	t := a.m.Graph.Main.Values[a.image.Out[0]].Type
	x, err := a.floats(x)
	if err == nil && t.Shape[0] == 1 && slices.Equal(x.Shape[1:], t.Shape[1:]) {
		a.note("is taken as grey pictures [N,H,W]")
		x.Shape = slices.Concat(x.Shape[:1], t.Shape)
	}
	if err != nil || !slices.Equal(x.Shape[1:], t.Shape) && !channelsLast(x.Shape[1:], t.Shape) {
		return x, err // another shape is refused if the model cannot have such an input
	}
	low, high := pictureRange(a.image, t.Shape[0])
	least, most := x.F32()[0], x.F32()[0]
	for _, v := range x.F32() {
		if v != v {
			return x, fmt.Errorf("%s: NaN is among the values", a.description)
		}
		least, most = min(least, v), max(most, v)
	}
	slack := 1e-3 * (high - low)
	if float64(least) < low-slack || float64(most) > high+slack {
		return x, problem.Advise("give pictures as uint8 [N,H,W,C], or {preprocess} none to take the numbers "+
			"as they are", "%s: values from %.4g to %.4g, and the model's preprocessing makes %.4g to %.4g of "+
			"pictures", a.description, least, most, low, high)
	}
	a.note("(%.4g to %.4g) goes past the model's preprocessing, which makes %.4g to %.4g of pictures",
		least, most, low, high)
	if !slices.Equal(x.Shape[1:], t.Shape) {
		a.note("is taken as [N,H,W,C]")
	}
	return x, nil
}

// pictureRange returns the least and the largest number that an image
// operation makes of bytes.
func pictureRange(n *graph.Node, channels int) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	mean, std := n.Floats("mean"), n.Floats("std")
	for c := range channels {
		for _, v := range []float64{0, 255 * n.Float("scale")} {
			if len(mean) > 0 {
				v -= mean[c]
			}
			if len(std) > 0 {
				v /= std[c]
			}
			low, high = min(low, v), max(high, v)
		}
	}
	return low, high
}

// numbers converts an array to the input of a model without preprocessing.
func (a *arrayFile) numbers(x tensor.Tensor) (tensor.Tensor, error) {
	want := a.m.Input()
	if x.DType == tensor.U8 && len(want.Shape) == 3 {
		if data.IsPictures(x) {
			return x, nil // refused like all pictures
		}
		advice := fmt.Sprintf("say {preprocess} imagenet, unit, raw or caffe and give [N,H,W,C], or give %s",
			tensor.Describe(want.DType, append([]int{x.Shape[0]}, want.Shape...)))
		return x, problem.Advise(advice,
			"%s: bytes are pictures, and the file does not say how they become the model's input", a.description)
	}
	x, err := a.floats(x)
	switch {
	case err == nil && slices.Equal(x.Shape, want.Shape):
		a.note("is taken as one sample")
		x.Shape = append([]int{1}, x.Shape...)
	case err == nil && channelsLast(x.Shape[1:], want.Shape):
		a.note("is taken as [N,H,W,C]")
	}
	return x, err
}

// floats converts x to f32. Floats are rounded. Integers that f32 cannot represent exactly
// are an error.
func (a *arrayFile) floats(x tensor.Tensor) (tensor.Tensor, error) {
	if x.DType == tensor.F32 {
		return x, nil
	}
	out, err := x.ToF32()
	if err != nil {
		return x, err
	}
	for i, v := range out.F32() {
		switch {
		case x.DType == tensor.F64 && math.IsInf(float64(v), 0) && !math.IsInf(x.F64()[i], 0):
			return x, fmt.Errorf("%s: %g is beyond float32", a.description, x.F64()[i])
		case x.DType == tensor.I64 && int64(v) != x.I64()[i],
			x.DType == tensor.I32 && float64(v) != float64(x.I32()[i]):
			return x, problem.Advise("convert them",
				"%s: not all values are whole numbers that float32 holds", a.description)
		}
	}
	a.note("is taken as f32")
	return out, nil
}
