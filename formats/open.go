package formats

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/formats/caffe"
)

// Open opens a foreign file of any format that is read, and takes off the
// wrappers around the model. Close the result.
func Open(path string, o Options) (*File, error) {
	name, read, err := recognise(path)
	if err != nil {
		return nil, err
	}
	if (o.Key != "" || o.EMA) && name != "torch" {
		return nil, fmt.Errorf("%s: --key and --ema are for PyTorch checkpoints, this is %s", path, name)
	}
	if o.Input != nil && !slices.Contains(openInputs, name) {
		return nil, fmt.Errorf("%s: --input is for graphs that leave the size of their input open; there is none "+
			"in files of %s", path, name)
	}
	if of := Describes(o.Description); o.Description != nil && name != of {
		return nil, fmt.Errorf("%s: this description is for files of %s, the file is one of %s; "+
			"name one of the zoo, or a graph in text form", path, of, name)
	}
	f, err := read(path, o)
	if err != nil {
		return nil, err
	}
	if err := clean(f, o); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// openInputs are the formats whose graphs may leave lengths of the input open.
var openInputs = []string{"onnx", "keras", "caffe"}

// clean takes off what is not the model's own: replicas, wrappers, and what is
// to be dropped, under the name that the file has for it or without wrappers.
// A file of nothing is refused here, whatever its format: nobody wants to be
// told that it is healthy.
func clean(f *File, o Options) error {
	if len(f.Tensors) == 0 {
		return fmt.Errorf("no tensors in this file (%s): there is nothing to strip, look at or predict with",
			f.Format)
	}
	if len(o.Drop) > 0 && f.Model != nil {
		return errors.New("--drop is for files of mere tensors, this one has a graph")
	}
	if err := mergeReplicas(f, o.rule()); err != nil {
		return err
	}
	rest, err := drop(f, o.Drop)
	if err != nil {
		return err
	}
	unwrap(f)
	rest, err = drop(f, rest)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return fmt.Errorf("--drop %s: no tensor is called so; there are %s", rest[0], listed(f.Tensors))
	}
	if len(f.Tensors) == 0 {
		return errors.New("--drop leaves no tensor; name fewer")
	}
	return nil
}

// Describes returns the format whose files a description that starts with head
// is for: "keras" for JSON, "caffe" for the text of deploy.prototxt; "" if it is
// none.
func Describes(head []byte) string {
	switch {
	case bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{")):
		return "keras"
	case caffe.SniffText(head):
		return "caffe"
	}
	return ""
}
