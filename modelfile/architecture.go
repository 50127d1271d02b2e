package modelfile

import (
	"errors"
	"fmt"
	"os"

	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/serialize"
)

func isZooName(name string) bool {
	_, err := models.Lookup(name)
	return err == nil
}

// Architecture returns the model that o.Arch names, without weights and with the same head
// as f. It returns nil if Arch is empty. It also returns nil if Arch is a description of a
// Keras or Caffe model, because f was read with it. The model has no preprocessing, because
// the weights in the file may have been trained with another preprocessing than the zoo's.
func Architecture(f *formats.File, o Options) (*models.Model, error) {
	name := o.Arch
	if name == "" {
		return nil, nil
	}
	if text, err := description(name); text != nil || err != nil {
		return nil, err
	}
	text, err := ReadGraphText(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if text != nil {
		m, err := fromGraphText(name, text)
		if err != nil || !o.hasSize() {
			return m, err
		}
		return models.WithSize(m, o.Size.Height, o.Size.Width)
	}
	if m, err := o.graphModel(name); m != nil || err != nil {
		return m, err
	}
	a, err := models.Lookup(name)
	if err != nil {
		return nil, err
	}
	size := o.withSize(a, models.Options{})
	m, err := models.Build(name, size)
	if err != nil {
		return nil, err
	}
	if fitted, differs := fitOptions(a, m, f, size); differs {
		if m, err = models.Build(name, fitted); err != nil {
			return nil, err
		}
	}
	m.Preprocess = models.Preprocess{}
	return m, nil
}

// fitOptions returns options with the outputs of the head and the input channels of f's
// tensors, and reports whether they differ from the model m.
func fitOptions(a models.Architecture, m *models.Model, f *formats.File, o models.Options) (
	fitted models.Options, differs bool) {
	first, last := m.Graph.State[0], m.Graph.State[len(m.Graph.State)-1]
	if t, ok := f.Tensor(last.Name); ok && len(t.Shape) == 1 && t.Shape[0] != last.Shape[0] {
		o.Classes, o.OneOutput, differs = t.Shape[0], t.Shape[0] == 1, true
	}
	t, ok := f.Tensor(first.Name)
	if ok && len(t.Shape) == 4 && len(first.Shape) == 4 && t.Shape[1] != first.Shape[1] {
		if o.Input == (models.Size{}) {
			o.Input = a.Input
		}
		o.Input.Channels, differs = t.Shape[1], true
	}
	return o, differs
}

// graphModel returns the model of a file with a graph, for example an ONNX file, and
// ignores the weights in it. It returns nil if the file does not exist.
func (o *Options) graphModel(path string) (*models.Model, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, nil // a name of the zoo
	}
	native, err := IsNative(path)
	if err != nil {
		return nil, err
	}
	if native {
		m, err := serialize.ReadModel(path)
		if err != nil {
			return nil, err
		}
		return m, o.checkFixedSize(m)
	}
	f, err := formats.Open(path, formats.Options{Input: o.Input, Inputs: o.Inputs})
	if err != nil {
		return nil, problem.New("arch", path, "it holds no graph that is read", "").Because(err)
	}
	defer f.Close()
	if f.Model == nil {
		return nil, problem.New("arch", path, "a file of tensors alone, without a graph",
			"name one of the zoo, a graph in text form, or an ONNX file")
	}
	return f.Model, nil
}

// fromGraphText returns the model of a graph in text form. The graph's image operation
// defines how it reads pictures.
func fromGraphText(path string, text []byte) (*models.Model, error) {
	g, err := graph.ParseGraph(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m, err := models.New(g)
	if err == nil {
		_, m.Preprocess.Known = models.ImageOf(m)
	}
	return m, err
}
