package main

import (
	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/stores"
	"github.com/bnctl/bnctl/models"
)

func modelsCommand() *cli.Command {
	return &cli.Command{
		Name:  "models",
		Usage: "the architectures that train knows by name",
		Description: `   bnctl models list
   bnctl models show resnet20
   bnctl models show lenet-bn --text > mine.graph    a graph to change and train
   bnctl models draft net.pth -o net.graph           a graph of a state dict, to be wired`,
		Subcommands: append([]*cli.Command{
			{Name: "list", Usage: "all architectures", Action: modelsList,
				Description: `   bnctl models list
   bnctl models list --json
   bnctl models list --pretrained      the weights that exist for them, for train --init`,
				Flags: []cli.Flag{&cli.BoolFlag{Name: "pretrained",
					Usage: "print published weights: source, size, top-1, licence, sum"}}},
			{Name: "show", Usage: "layers, shapes, parameters, FLOPs, how it was published", ArgsUsage: "NAME",
				Description: `   bnctl models show resnet20
   bnctl models show resnet50 --recipe > paper.yaml    then bnctl train --recipe paper.yaml
   bnctl models show lenet-bn --text > mine.graph
   bnctl models show deeplabv3-resnet50 --batch 8 --size 512x512`,
				Flags: []cli.Flag{
					&cli.BoolFlag{Name: "text", Usage: "print the graph in text form, for --model"},
					&cli.BoolFlag{Name: "recipe", Usage: "print how its authors trained it, for train --recipe"},
					&cli.IntFlag{Name: "batch", Usage: "print the memory for training with batches of `N` samples"},
					sizeFlag("for the layers and the memory"),
				},
				Action: modelsShow},
			modelsDraftCommand(),
		}, storeCommands()...),
	}
}

func modelsList(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	if c.Bool("pretrained") {
		return stores.ListPretrained(storesOutput(c))
	}
	return listModels(outputOf(c))
}

func modelsShow(c *cli.Context) error {
	name, err := oneArgument(c, "NAME", "of an architecture, as models list has them")
	if err != nil {
		return err
	}
	size, err := sizeOf(c)
	if err != nil {
		return err
	}
	if c.IsSet("batch") {
		return showMemory(outputOf(c), name, size, c.Int("batch"))
	}
	return showModel(outputOf(c), name, size, c.Bool("text"), c.Bool("recipe"))
}

// sizeFlag sets the size of pictures.
func sizeFlag(subject string) cli.Flag {
	return &cli.StringFlag{Name: "size", Usage: "`HxW` of pictures, " + subject, DefaultText: "the native size"}
}

func sizeOf(c *cli.Context) (models.Size, error) {
	if !c.IsSet("size") {
		return models.Size{}, nil
	}
	return models.ParseSize(c.String("size"))
}
