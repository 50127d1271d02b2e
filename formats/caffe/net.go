package caffe

import (
	"fmt"
	"unicode/utf8"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/internal/message"
)

// Limits on what a file may ask for.
const (
	maxLayers = 1 << 14
	maxBlobs  = 64      // of one layer, and inputs and outputs, and values of a setting
	maxParams = 16      // messages with settings of one layer
	maxParts  = 1 << 18 // blobs, inputs and outputs of all layers
)

// net is NetParameter.
type net struct {
	name   string
	inputs []string
	shapes [][]int // of the inputs
	layers []*layer
	parts  int // blobs, inputs and outputs of all layers
}

// layer is LayerParameter.
type layer struct {
	name, kind  string
	bottom, top []string
	blobs       []blob
	params      map[int]param // messages such as convolution_param, by number of the field
	testOnly    bool
	absorbed    bool // a Scale that has become part of a batch norm
}

func parseNet(b []byte) (*net, error) {
	n := &net{}
	var dims []int
	err := message.Walk(b, func(f message.Field) (err error) {
		switch f.Number {
		case 1:
			n.name, err = text(f)
		case 2:
			return fmt.Errorf("layers of the first format (V1LayerParameter): upgrade the file with Caffe's " +
				"upgrade_net_proto_binary")
		case 3:
			var name string
			name, err = text(f)
			n.inputs = append(n.inputs, name)
		case 4:
			dims, err = appendDims(dims, f, 4*maxBlobs)
		case 8:
			var shape []int
			shape, err = parseShape(f.Bytes)
			n.shapes = append(n.shapes, shape)
		case 100:
			err = n.addLayer(f)
		}
		if err == nil && len(n.inputs)+len(n.shapes) > 2*maxBlobs {
			err = fmt.Errorf("more than %d inputs", maxBlobs)
		}
		return err
	})
	for ; len(dims) >= 4; dims = dims[4:] {
		n.shapes = append(n.shapes, dims[:4])
	}
	return n, err
}

func (n *net) addLayer(f message.Field) error {
	if len(n.layers) == maxLayers {
		return fmt.Errorf("more than %d layers", maxLayers)
	}
	if err := f.Want(message.Bytes); err != nil {
		return err
	}
	l := &layer{params: map[int]param{}}
	err := message.Walk(f.Bytes, l.field)
	if err != nil {
		return fmt.Errorf("layer %d %q: %w", len(n.layers), l.name, err)
	}
	n.layers = append(n.layers, l)
	if n.parts += len(l.blobs) + len(l.bottom) + len(l.top); n.parts > maxParts {
		return fmt.Errorf("more than %d blobs, inputs and outputs", maxParts)
	}
	return nil
}

func (l *layer) field(f message.Field) (err error) {
	var name string
	switch f.Number {
	case 1:
		l.name, err = text(f)
	case 2:
		l.kind, err = text(f)
	case 3:
		name, err = text(f)
		l.bottom = append(l.bottom, name)
	case 4:
		name, err = text(f)
		l.top = append(l.top, name)
	case 7:
		var b blob
		b, err = parseBlob(f)
		l.blobs = append(l.blobs, b)
	case 8: // NetStateRule, phase = 1: TEST is 1
		phase, perr := param(f.Bytes).uint(1, 0)
		l.testOnly, err = phase == 1, perr
	}
	if f.Number >= fieldTransform && f.Type == message.Bytes && l.params[f.Number] == nil {
		if l.params[f.Number] = f.Bytes; len(l.params) > maxParams {
			return fmt.Errorf("settings of more than %d kinds", maxParams)
		}
	}
	if err == nil && len(l.blobs)+len(l.bottom)+len(l.top) > 3*maxBlobs {
		err = fmt.Errorf("more than %d blobs, inputs and outputs", 3*maxBlobs)
	}
	return err
}

func text(f message.Field) (string, error) {
	if err := f.Want(message.Bytes); err != nil {
		return "", err
	}
	if len(f.Bytes) > foreign.MaxName || !utf8.Valid(f.Bytes) {
		return "", fmt.Errorf("field %d: a name of %d bytes; want UTF-8 of at most %d bytes",
			f.Number, len(f.Bytes), foreign.MaxName)
	}
	return string(f.Bytes), nil
}
