package caffe

import (
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/internal/message"
)

// Limits on the contents of a file.
const (
	maxLayers = 1 << 14
	maxBlobs  = 64      // blobs of one layer, its inputs and outputs, or values of one setting
	maxParams = 16      // messages with settings of one layer
	maxParts  = 1 << 18 // blobs, their pieces, inputs and outputs, of all layers together

	maxSettings = 1 << 20 // bytes of a message with settings
)

// net is a message NetParameter: a whole network.
type net struct {
	name       string
	inputs     []string
	shapes     [][]int // shapes of the inputs
	layers     []*layer
	inputShape []int // shape of the input if the network does not specify it
	phase      int   // train for a .caffemodel, because training writes it; test for a description
}

// layer is a message LayerParameter.
type layer struct {
	name, kind  string
	bottom, top []string
	blobs       []blob
	params      map[int]param // messages like convolution_param, by field number
	rules       []rule        // conditions for the layer; a layer without rules is always used
	odd         int           // number of a field that Caffe does not have; 0 if there is none
	absorbed    bool          // a Scale that has become part of a batch norm
}

// decoder reads a network; the elements of its blobs are left in the file.
type decoder struct {
	net
	src      io.ReaderAt
	file     *message.File
	elements int   // blobs and their pieces, inputs and outputs of all layers
	dims     []int // lengths of the inputs' axes, four for each input
}

// decodeNet reads the network in the size bytes of src.
func decodeNet(src io.ReaderAt, size int64) (*net, error) {
	d := &decoder{src: src, file: message.NewFile(src)}
	return d.read(size)
}

func (d *decoder) read(size int64) (*net, error) {
	if err := d.file.Walk(message.Extent{Size: size}, d.netField); err != nil {
		return nil, err
	}
	for ; len(d.dims) >= 4; d.dims = d.dims[4:] {
		d.shapes = append(d.shapes, d.dims[:4])
	}
	return &d.net, nil
}

func (d *decoder) netField(p message.FieldExtent) (err error) {
	switch p.Number {
	case 1:
		d.name, err = d.text(p)
	case 2:
		err = d.layer(p, d.oldField)
	case 3:
		var name string
		name, err = d.text(p)
		d.inputs = append(d.inputs, name)
	case 4, 8:
		err = d.inputShape(p)
	case 100:
		err = d.layer(p, d.layerField)
	}
	if err == nil && len(d.inputs)+len(d.shapes) > 2*maxBlobs {
		err = fmt.Errorf("more than %d inputs", maxBlobs)
	}
	return err
}

// inputShape reads the shape of an input, which is a message BlobShape or a list of
// lengths.
func (d *decoder) inputShape(p message.FieldExtent) error {
	f, err := d.load(p)
	if err != nil {
		return err
	}
	if p.Number == 4 {
		d.dims, err = appendDims(d.dims, f, 4*maxBlobs)
		return err
	}
	shape, err := parseShape(f.Bytes)
	d.shapes = append(d.shapes, shape)
	return err
}

// layer reads a layer. It calls field for each field of the message.
func (d *decoder) layer(p message.FieldExtent, field func(*layer, message.FieldExtent) error) error {
	if len(d.layers) == maxLayers {
		return fmt.Errorf("more than %d layers", maxLayers)
	}
	if err := p.Want(message.Bytes); err != nil {
		return err
	}
	l := &layer{}
	err := d.file.Walk(p.Body, func(p message.FieldExtent) error { return field(l, p) })
	if err != nil {
		return fmt.Errorf("layer %d %q: %w", len(d.layers), l.name, err)
	}
	d.layers = append(d.layers, l)
	return nil
}

func (d *decoder) layerField(l *layer, p message.FieldExtent) (err error) {
	switch p.Number {
	case 1:
		l.name, err = d.text(p)
	case 2:
		l.kind, err = d.text(p)
	case 3:
		l.bottom, err = d.appendText(l.bottom, p)
	case 4:
		l.top, err = d.appendText(l.top, p)
	case 7:
		var b blob
		if b, err = d.blob(p); err != nil {
			return fmt.Errorf("blob %d: %w", len(l.blobs), err)
		}
		l.blobs = append(l.blobs, b)
		d.elements += 1 + len(b.chunks)
	case 8, 9:
		err = d.rule(l, p)
	case 5, 6, 10, 11: // weights of losses, learning rates, phase, propagation
	default:
		if p.Number < fieldTransform {
			l.odd = p.Number
		}
	}
	switch {
	case err != nil:
		return err
	case len(l.blobs)+len(l.bottom)+len(l.top) > 3*maxBlobs:
		return fmt.Errorf("more than %d blobs, inputs and outputs", 3*maxBlobs)
	case d.elements > maxParts:
		return fmt.Errorf("more than %d blobs, pieces of them, inputs and outputs in the file", maxParts)
	case p.Number >= fieldTransform && p.Type == message.Bytes:
		return d.settings(l, p)
	}
	return nil
}

// settings keeps a message with settings of a layer, still encoded.
func (d *decoder) settings(l *layer, p message.FieldExtent) error {
	if len(l.params) == maxParams && l.params[p.Number] == nil {
		return fmt.Errorf("settings of more than %d kinds", maxParams)
	}
	f, err := d.load(p)
	if l.params == nil {
		l.params = map[int]param{}
	}
	if len(l.params[p.Number])+len(f.Bytes) > maxSettings {
		return fmt.Errorf("field %d has more than %d bytes of settings", p.Number, maxSettings)
	}
	l.params[p.Number] = append(l.params[p.Number], f.Bytes...) // parts of a message are joined
	return err
}

// load reads a field of at most maxSettings bytes.
func (d *decoder) load(p message.FieldExtent) (message.Field, error) {
	return d.file.Field(p, maxSettings)
}

func (d *decoder) appendText(texts []string, p message.FieldExtent) ([]string, error) {
	s, err := d.text(p)
	d.elements++
	return append(texts, s), err
}

func (d *decoder) text(p message.FieldExtent) (string, error) {
	if err := p.Want(message.Bytes); err != nil {
		return "", err
	}
	f, err := d.file.Field(p, foreign.MaxName)
	if err != nil {
		return "", err
	}
	if !utf8.Valid(f.Bytes) {
		return "", fmt.Errorf("byte %d: field %d: a name that is not UTF-8", p.Whole.At, p.Number)
	}
	return string(f.Bytes), nil
}
