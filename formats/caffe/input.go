package caffe

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Fields of the layers that feed a network.
const (
	fieldTransform = 100
	fieldInput     = 143
	fieldCrop      = 3 // crop_size of TransformationParameter
)

// input declares the network's input: the input of the net itself, of an Input layer, or of
// a data layer that crops images to a known size.
func (b *build) input() error {
	name, shape, err := b.findInput()
	switch given := b.net.inputShape; {
	case err == errNoInput && given != nil && name != "":
		shape = append([]int{1}, given...)
	case err != nil:
		return err
	case given != nil && (len(shape) == 0 || !slices.Equal(given, shape[1:])):
		return problem.Failure("", fmt.Sprintf("input %q has the shape %v, batch first, which {input} does not fit",
			name, shape), "")
	}
	if len(shape) < 2 || len(shape) > 4 {
		return fmt.Errorf("input %q has shape %v, want 2 to 4 lengths with the batch", name, shape)
	}
	if err := tensor.CheckShape(tensor.F32, shape); err != nil {
		return fmt.Errorf("input %q: %w", name, err)
	}
	v := b.Input(clean(name), graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: shape[1:]})
	b.set(name, v)
	return b.Err()
}

func (b *build) findInput() (string, []int, error) {
	n := b.net
	if len(n.inputs) > 1 {
		return "", nil, fmt.Errorf("the network has %d inputs; 1 is supported", len(n.inputs))
	}
	if len(n.inputs) == 1 {
		if len(n.shapes) != 1 {
			return n.inputs[0], nil, errNoInput
		}
		return n.inputs[0], n.shapes[0], nil
	}
	for _, l := range n.layers {
		if len(l.top) == 0 || l.absent(n.phase) {
			continue
		}
		if l.kind == "Input" {
			shape, err := l.inputShape()
			return l.top[0], shape, err
		}
		if kinds[l.kind].data {
			shape, err := n.croppedShape(l)
			return l.top[0], shape, err
		}
	}
	return "", nil, errNoInput
}

// inputShape reads the shape from InputParameter, where it is field 1.
func (l *layer) inputShape() ([]int, error) {
	if len(l.top) != 1 {
		return nil, fmt.Errorf("layer %s makes %d inputs; 1 is supported", l.name, len(l.top))
	}
	shapes, err := l.params[fieldInput].messages(1)
	if err != nil || len(shapes) == 0 {
		return nil, errNoInput
	}
	return parseShape(shapes[0])
}

// croppedShape returns the shape of the images of a data layer that crops them. The number
// of channels comes from the first convolution.
func (n *net) croppedShape(data *layer) ([]int, error) {
	crop, err := data.transform().uint(fieldCrop, 0)
	if err != nil || crop == 0 {
		return nil, errNoInput
	}
	for _, l := range n.layers {
		reads := l.kind == "Convolution" && len(l.bottom) == 1 && l.bottom[0] == data.top[0]
		if reads && len(l.blobs) > 0 && len(l.blobs[0].shape) == 4 {
			return []int{1, l.blobs[0].shape[1], crop, crop}, nil
		}
	}
	return nil, errNoInput
}

func (l *layer) transform() param { return l.params[fieldTransform] }
