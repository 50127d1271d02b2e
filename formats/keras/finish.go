package keras

import (
	"fmt"

	"github.com/bnctl/bnctl/formats/internal/foreign"
)

// finish lists the tensors and, if the file describes a model, builds it. If the model
// cannot be built, the result has only the tensors.
func (c *content) finish(match func(*network) (weights, error)) (*foreign.File, error) {
	f := c.file
	for _, of := range []struct{ name, value string }{{"keras_version", c.version}, {"backend", c.backend}} {
		if of.value != "" {
			f.Count(of.name, of.value)
		}
	}
	if err := c.listTensors(); err != nil {
		return nil, err
	}
	if c.config == nil {
		f.Format += ", weights alone"
		return f, nil
	}
	f.NoModel = c.build(match)
	return f, nil
}

// build makes the model that the file describes.
func (c *content) build(match func(*network) (weights, error)) error {
	n, err := parseModel(c.config)
	if err != nil {
		return fmt.Errorf("model_config: %w", err)
	}
	inside, wrapper, err := n.singleDevice()
	if err != nil {
		return err
	}
	if wrapper != "" {
		c.file.Wrappers = append(c.file.Wrappers, wrapper)
		c.file.Find("", "the model was trained on several devices that share its weights: "+
			"its running statistics moved once for each of them in a step", "")
	}
	if c.tensorsOnly {
		return nil
	}
	if err := inside.checkLayers(); err != nil { // before the weights: unsupported layers have some, too
		return err
	}
	w, err := match(n)
	if err != nil {
		return err
	}
	b := &build{weights: w, major: c.major(), flip: c.theano(), old: c.oldResize(), givenShape: c.givenShape,
		weightBudget: maxShared*int(c.size) + spareMemory}
	m, err := b.toModel(inside)
	if err != nil {
		return err
	}
	c.file.Model = m
	for _, n := range b.notes {
		c.file.Find(n.where, n.text, "")
	}
	return nil
}
