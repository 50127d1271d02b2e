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

// startModel is the model that training starts from.
type startModel struct {
	*models.Model
	// weights is the SHA-256 of the file that has weights for it; "" if they
	// are to be drawn.
	weights string
}

// newModel builds a model for training: of the zoo by name, with the size and
// the classes of the data, from a graph in text form, or of any model file,
// then with the file's weights; those of a new head are drawn from the seed.
func newModel(c *cli.Context, name string, info data.Info, seed uint64) (startModel, error) {
	text, err := graphText(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return startModel{}, err
	}
	var m *models.Model
	switch {
	case text != nil:
		m, err = writtenModel(name, text, c.Int("classes"))
	case err == nil && !inZoo(name):
		return trainedModel(c, name, info, seed)
	default:
		m, err = zooModel(name, info, c.Int("classes"))
	}
	if err == nil {
		err = without(c, name+" is no file of weights", "arch", "input")
	}
	if err != nil {
		return startModel{}, err
	}
	if m, err = preprocessed(c, m); err != nil {
		return startModel{}, err
	}
	return startModel{Model: m}, nil
}

func inZoo(name string) bool {
	_, err := models.Lookup(name)
	return err == nil
}

// trainedModel opens a template, or the file of another program, to train it on.
func trainedModel(c *cli.Context, path string, info data.Info, seed uint64) (startModel, error) {
	if c.IsSet("init") {
		return startModel{}, misuse("--model %s has weights, --init %s others: leave one of them out",
			path, c.String("init"))
	}
	o, err := givenOptions(c)
	if err != nil {
		return startModel{}, err
	}
	was, err := openModelWith(c, path, o)
	if err != nil {
		return startModel{}, err
	}
	if was, err = suited(was, info); err != nil {
		return startModel{}, fmt.Errorf("%s: %w", path, err)
	}
	m := was.Clone()
	if n := c.Int("classes"); n != 0 {
		if m, err = models.WithClasses(was, n); err != nil {
			return startModel{}, err
		}
		if err := models.InitHead(m, was, seed); err != nil {
			return startModel{}, err
		}
	}
	m.Recipe = nil // of another run
	sum, err := fileDigest(path)
	return startModel{m, sum}, err
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
		Resize: m.Preprocess.Resize, Filter: data.Filter(m.Preprocess.Interpolation)}
}
