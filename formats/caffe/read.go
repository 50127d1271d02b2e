package caffe

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/internal/message"
	"github.com/bnctl/bnctl/tensor"
)

// Sniff reports whether a file that starts with head may be a .caffemodel. Such a file has
// a name or inputs, and then layers. The first layer need not be complete in head.
func Sniff(head []byte) bool {
	for len(head) > 2 {
		if head[0] == 0xa2 && head[1] == 0x06 { // field 100, bytes: a layer
			return true
		}
		f, n, err := message.Next(head)
		switch {
		case f.Type == message.Bytes && f.Number == 2 && (err != nil || len(f.Bytes) > 1 &&
			bytes.IndexByte([]byte{0x0a, 0x12, 0x1a, 0x22}, f.Bytes[0]) >= 0):
			return true // a layer of the first format: its first field has a number from 1 to 4
		case err != nil || f.Number == 2 || f.Number > 8:
			return false
		}
		head = head[n:]
	}
	return false
}

// Options are the settings for reading a file.
type Options struct {
	// TensorsOnly leaves out the model, which needs memory for a second copy of all
	// weights.
	TensorsOnly bool
	// Input is the shape of one sample, (C, H, W), if the file does not give it.
	Input []int
	// Description describes the network in text, like deploy.prototxt. It replaces the
	// network in the file; weights are assigned by the names of layers.
	Description []byte
}

// Read opens a .caffemodel. The result has a Model if the file gives the size of its input
// and all its layers are supported; otherwise NoModel is the reason. Tensors always has the
// weights. They are read from the file on demand: close the result afterwards.
func Read(path string, o Options) (*foreign.File, error) {
	return foreign.Open(path, func(src io.ReaderAt, size int64) (*foreign.File, error) {
		f, err := read(src, size, o)
		if err != nil {
			return nil, fmt.Errorf("caffe: %w", err)
		}
		return f, nil
	})
}

// read reads the size bytes of src. Tensors are read from it later too.
func read(src io.ReaderAt, size int64, o Options) (*foreign.File, error) {
	n, err := decodeNet(src, size)
	if err != nil {
		return nil, err
	}
	if len(n.layers) == 0 {
		return nil, errors.New("the network has no layers")
	}
	f := &foreign.File{Format: "caffe"}
	if err := n.tensors(f); err != nil {
		return nil, err
	}
	if err := foreign.CheckTensors(f.Tensors, size); err != nil {
		return nil, err
	}
	if o.Description != nil {
		if n, err = n.described(o.Description, f); err != nil {
			return nil, err
		}
	}
	if !o.TensorsOnly {
		n.inputShape = o.Input
		f.Model, f.NoModel = n.model(f)
	}
	return f, nil
}

// described returns the network of a description in text, with the weights of n in the
// layers of the same name, as Caffe loads them. A layer of n with weights that the
// description lacks becomes a finding of f.
func (n *net) described(text []byte, f *foreign.File) (*net, error) {
	d, err := parseText(text)
	if err != nil {
		return nil, err
	}
	from := map[string]*layer{}
	for _, l := range n.layers {
		from[l.name] = l
	}
	for _, l := range d.layers {
		if w := from[l.name]; w != nil {
			l.blobs = w.blobs
			delete(from, l.name)
		}
	}
	for _, l := range n.layers {
		if from[l.name] != nil && len(l.blobs) > 0 {
			f.Find(l.name, "the description has no layer of this name: its weights are left out", "")
		}
	}
	return d, nil
}

// tensors adds the blobs of all layers to f. Statistics are divided by their
// factor, which is then left out.
func (n *net) tensors(f *foreign.File) error {
	for _, l := range n.layers {
		for i := range l.blobs {
			name := l.blobName(i)
			if name == "" {
				continue
			}
			if len(f.Tensors) == foreign.MaxTensors {
				return fmt.Errorf("more than %d tensors", foreign.MaxTensors)
			}
			t, err := foreign.NewTensor(l.name+"."+name, tensor.F32, l.blobs[i].shape,
				func(dst []byte) error { return l.readBlob(dst, i) })
			if err != nil {
				return err
			}
			f.Tensors = append(f.Tensors, t)
		}
	}
	return nil
}

// blobName returns the name of a blob among the tensors; "" for the factor of
// a batch norm.
func (l *layer) blobName(i int) string {
	names := []string{"weight", "bias"}
	if l.normed() {
		names = []string{"running_mean", "running_var", ""}
	}
	if i < len(names) {
		return names[i]
	}
	return "blob" + strconv.Itoa(i)
}

func (l *layer) normed() bool { return l.kind == "BatchNorm" && len(l.blobs) == 3 }

// readBlob fills dst with blob i; statistics are divided by their factor.
func (l *layer) readBlob(dst []byte, i int) error {
	if !l.normed() {
		return l.blobs[i].readInto(dst)
	}
	v, err1 := l.blobs[i].load(l.blobs[i].shape...)
	factor, err2 := l.blobs[2].load(1)
	if err := cmp.Or(err1, err2); err != nil {
		return err
	}
	divide(v.F32(), factor.F32()[0])
	copy(dst, v.Bytes)
	return nil
}
