package formats

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/bnctl/bnctl/formats/caffe"
	"github.com/bnctl/bnctl/problem"
)

// Open opens a file of any supported format and removes the wrappers around the
// model. The caller closes the result.
func Open(path string, o Options) (*File, error) {
	name, read, err := recognise(path)
	if err != nil {
		return nil, err
	}
	if o.Key != "" && name != "torch" {
		return nil, problem.Failure("", path+": {key} is for PyTorch checkpoints, this is "+name, "")
	}
	if o.EMA && name != "torch" && name != "tensorflow" {
		return nil, problem.Failure("", path+": {ema} is for checkpoints of PyTorch and TensorFlow, this is "+
			name, "")
	}
	if o.Input != nil && !slices.Contains(openInputs, name) {
		return nil, problem.Failure("", path+": {input} is for graphs that leave the size of their input open",
			"there is none in files of "+name)
	}
	if o.Inputs != nil && name != "onnx" {
		return nil, problem.Failure("", path+": {input} with names of inputs is for ONNX files, this is "+name,
			"give the lengths of its one input: {input} 3,224,224")
	}
	if of := Describes(o.Description); o.Description != nil && name != of {
		return nil, problem.Advise("name one of the zoo, or a graph in text form",
			"%s: this description is for files of %s, the file is one of %s", path, of, name)
	}
	f, err := read(path, o)
	if err != nil {
		return nil, err
	}
	f.FileName, f.Memory = filepath.Base(path), o.Memory
	if err := clean(f, o); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// openInputs lists the formats with graphs that may leave lengths of the input open.
var openInputs = []string{"onnx", "keras", "caffe"}

// clean removes everything that does not belong to the model: replicas, wrappers,
// reparametrisations, and the tensors to be dropped, under the file's name or the resulting
// one. An empty file is rejected here, whatever its format, so that it is never reported as
// healthy.
func clean(f *File, o Options) error {
	if len(f.Tensors) == 0 && f.Model == nil && f.NoModel != nil {
		return fmt.Errorf("no tensors in this file (%s), and its graph is not supported: %w", f.Format, f.NoModel)
	}
	if len(f.Tensors) == 0 && f.Model == nil {
		return fmt.Errorf("no tensors in this file (%s): there is nothing to strip, look at or predict with",
			f.Format)
	}
	for option, given := range map[string][]string{"drop": o.Drop, "rename": o.Rename} {
		if len(given) > 0 && f.Model != nil {
			return problem.Failure(option, "only files of mere tensors take it, this one has a graph", "")
		}
	}
	if err := mergeReplicas(f, o.rule()); err != nil {
		return err
	}
	rest, err := drop(f, o.Drop)
	if err != nil {
		return err
	}
	if err := refusePart(f); err != nil {
		return err
	}
	unwrap(f)
	if rest, err = drop(f, rest); err != nil {
		return err
	}
	leaveRemoved(f)
	derive(f)
	if rest, err = drop(f, rest); err != nil {
		return err
	}
	if len(rest) > 0 {
		return notDropped(rest[0], "no tensor is called so", "there are "+listed(f.Tensors))
	}
	if len(f.Tensors) == 0 && f.Model == nil {
		return problem.Failure("", "{drop} leaves no tensor", "name fewer")
	}
	return rename(f, o.Rename)
}

// Describes returns the format of a description of an architecture by its first
// bytes: "keras" for JSON, "caffe" for the text of deploy.prototxt, "" for
// neither.
func Describes(head []byte) string {
	switch {
	case bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{")):
		return "keras"
	case caffe.SniffText(head):
		return "caffe"
	}
	return ""
}
