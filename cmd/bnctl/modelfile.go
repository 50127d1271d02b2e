package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
)

// newModel builds a model for training: of the zoo by name, with the size and
// the classes of the data, or from a graph in text form. Its state is empty.
func newModel(name string, info data.Info, c *cli.Context) (*models.Model, error) {
	text, err := graphText(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var m *models.Model
	if text != nil {
		m, err = writtenModel(name, text, c.Int("classes"))
	} else {
		m, err = zooModel(name, info, c.Int("classes"))
	}
	if err != nil {
		return nil, err
	}
	return preprocessed(c, m)
}

// writtenModel makes a model of a graph in text form, with a head for so many
// classes; 0 leaves its own.
func writtenModel(path string, text []byte, classes int) (*models.Model, error) {
	g, err := graph.ParseGraph(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m, err := models.New(g)
	if err != nil || classes == 0 {
		return m, err
	}
	return models.WithClasses(m, classes)
}

// zooModel builds an architecture of the zoo for pictures of the data's size,
// and for its classes unless classes is above 0.
func zooModel(name string, info data.Info, classes int) (*models.Model, error) {
	if _, err := architecture(name); err != nil {
		return nil, err
	}
	if !info.Pictures() {
		return nil, fmt.Errorf("model %s takes images, the samples of %s are %v arrays of f32; "+
			"give a model file whose input has that shape", name, info.Kind, info.Shape)
	}
	o := models.Options{Classes: classes}
	if o.Classes == 0 {
		o.Classes = len(info.Classes)
	}
	if len(info.Shape) == 3 {
		o.Input = models.Size{Height: info.Shape[0], Width: info.Shape[1], Channels: info.Shape[2]}
	}
	return models.Build(name, o)
}

// transformOf says how samples become the input of m.
func transformOf(m *models.Model, info data.Info) data.Transform {
	in := m.Input()
	if !info.Pictures() || len(in.Shape) != 3 {
		return data.Transform{}
	}
	return data.Transform{Height: in.Shape[0], Width: in.Shape[1], Channels: in.Shape[2],
		Resize: m.Preprocess.Resize}
}
