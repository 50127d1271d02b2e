package main

import (
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/train"
)

func listModels(o *output) error {
	o.result("%-12s  %-9s  %7s  %10s  %8s  %5s  %s", "name", "input", "classes", "parameters", "MFLOP", "lr", "")
	for _, a := range models.Architectures() {
		_, e, err := a.Describe(models.Size{})
		if err != nil {
			return err
		}
		o.event("model", e)
		o.result("%-12s  %-9s  %7d  %10d  %8.1f  %5g  %s", e.Name, e.Input, e.Classes, e.Parameters,
			e.Flops/1e6, e.LR, e.About)
	}
	return nil
}

// showMemory prints what training a model of the zoo takes.
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
func showModel(o *output, name string, size models.Size, text bool) error {
	a, err := models.Lookup(name)
	if err != nil {
		return err
	}
	m, e, err := a.Describe(size)
	if err != nil {
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
	o.result("")
	printLayers(o, e.Layers)
	return nil
}
