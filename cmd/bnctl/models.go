package main

import (
	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
)

func modelsCommand() *cli.Command {
	return &cli.Command{
		Name:  "models",
		Usage: "the architectures that train takes by name",
		Description: `   bnctl models list
   bnctl models show resnet20
   bnctl models show lenet-bn --text > mine.graph    a graph to change and train`,
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "all architectures", Action: modelsList,
				Description: `   bnctl models list
   bnctl models list --json`},
			{Name: "show", Usage: "layers, shapes, parameters, FLOPs, default learning rate", ArgsUsage: "NAME",
				Description: `   bnctl models show resnet20
   bnctl models show lenet-bn --text > mine.graph`,
				Flags: []cli.Flag{
					&cli.BoolFlag{Name: "text", Usage: "print the graph in text form, as --model takes it"},
				},
				Action: modelsShow},
		},
	}
}

// modelEvent is a line of models --json.
type modelEvent struct {
	Name       string         `json:"name"`
	About      string         `json:"about"`
	Input      string         `json:"input"`
	Classes    int            `json:"classes"`
	Parameters int            `json:"parameters"`
	Flops      float64        `json:"flops"`
	BatchNorms int            `json:"batch_norms"`
	LR         float64        `json:"lr"`
	Layers     []models.Layer `json:"layers,omitempty"`
}

func newModelEvent(a models.Architecture, m *models.Model) modelEvent {
	s := m.Summary()
	return modelEvent{Name: a.Name, About: a.About, Input: a.Input.String(), Classes: a.Classes,
		Parameters: s.Parameters, Flops: s.Flops, BatchNorms: s.Norms, LR: a.LR}
}

func modelsList(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	o := outputOf(c)
	o.result("%-12s  %-9s  %7s  %10s  %8s  %5s  %s", "name", "input", "classes", "parameters", "MFLOP", "lr", "")
	for _, a := range models.Architectures() {
		m, err := models.Build(a.Name, models.Options{})
		if err != nil {
			return err
		}
		e := newModelEvent(a, m)
		o.event("model", e)
		o.result("%-12s  %-9s  %7d  %10d  %8.1f  %5g  %s", e.Name, e.Input, e.Classes, e.Parameters,
			e.Flops/1e6, e.LR, e.About)
	}
	return nil
}

func modelsShow(c *cli.Context) error {
	name, err := oneArgument(c, "NAME", "of an architecture, as models list has them")
	if err != nil {
		return err
	}
	a, err := modelfile.Zoo(name)
	if err != nil {
		return err
	}
	m, err := models.Build(name, models.Options{})
	if err != nil {
		return err
	}
	o := outputOf(c)
	if c.Bool("text") {
		_, err := o.stdout.Write(m.Graph.Text())
		return err
	}
	e := newModelEvent(a, m)
	e.Layers = m.Layers()
	o.event("model", e)
	o.result("%s: %s", a.Name, a.About)
	o.result("%s", summary(m))
	o.result("default learning rate %g (sgd, momentum 0.9, batch 128)", a.LR)
	o.result("")
	printLayers(o, e.Layers)
	return nil
}
