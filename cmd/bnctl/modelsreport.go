package main

import (
	"github.com/bnctl/bnctl/cmd/bnctl/internal/zoo"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/train"
)

func listModels(o *output) error {
	o.result("%s", zoo.Head())
	family := ""
	for _, a := range models.Architectures() {
		_, e, err := a.Describe(models.Size{})
		if err != nil {
			return err
		}
		o.event("model", e)
		o.results(zoo.Line(e, family))
		family = a.Family
	}
	return nil
}

// showMemory prints the memory that training a model of the zoo needs.
func showMemory(o *output, name string, size models.Size, batch int) error {
	m, err := train.MemoryOf(name, size, batch)
	if err != nil {
		return err
	}
	gb := func(n int64) float64 { return float64(n) / 1e9 }
	o.event("memory", m)
	o.result("%s, batches of %d, %s: state %.2f GB on each device, activations at most %.2f GB, %.2f GB with "+
		"--recompute all", name, m.Batch, m.Input, gb(m.State), gb(m.Activations), gb(m.Recomputed))
	return nil
}

// showModel prints a model of the zoo, or only the text of its graph.
func showModel(o *output, name string, size models.Size, text, recipe bool) error {
	a, err := models.Lookup(name)
	if err != nil {
		return err
	}
	m, e, err := a.Describe(size)
	if err != nil {
		return err
	}
	if recipe {
		text, err := zoo.Recipe(e)
		if err == nil {
			_, err = o.stdout.Write([]byte(text))
		}
		return err
	}
	if text {
		_, err := o.stdout.Write(m.Graph.Text())
		return err
	}
	e.Layers = m.Layers()
	o.event("model", e)
	o.result("%s: %s", a.Name, a.About)
	o.result("%s", summary(m))
	o.result("default learning rate %g (sgd, momentum 0.9, batch 128)", a.LR)
	o.results(zoo.Paper(e))
	o.result("")
	printLayers(o, e.Layers)
	return nil
}

func printLayers(o *output, layers []models.Layer) { o.results(zoo.Layers(layers)) }

// summary describes a model in a line.
func summary(m *models.Model) string { return zoo.Summary(m) }

// results prints lines of text, unless results are JSON.
func (o *output) results(lines []string) {
	for _, line := range lines {
		o.result("%s", line)
	}
}
