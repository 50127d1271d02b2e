package main

import (
	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/graph/dot"
	"github.com/bnctl/bnctl/modelfile/inspect"
)

func inspectCommand() *cli.Command {
	return &cli.Command{
		Name: "inspect",
		Usage: "the contents of a model file: layers, FLOPs, batch norm statistics, recipe, parts for " +
			"training",
		ArgsUsage: "FILE",
		Description: `Reads a template (.bnm), a checkpoint (.bnc), a graph in text form or the file of
another program, and shows the contents. Every byte of bnctl's files is verified; other
files are verified with --verify.

   bnctl inspect model.bnm
   bnctl inspect run.bnc --json
   bnctl inspect run.bnc --text                  the graph, with its replica connections
   bnctl inspect model.bnm --graph model.svg     drawn by Graphviz; model.dot is its input
   bnctl inspect checkpoint.pth --verify`,
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "verify", Usage: "read everything of the file of another program"},
			&cli.BoolFlag{Name: "text", Usage: "print the graph in text form and nothing else"},
			&cli.StringFlag{Name: "graph", Usage: "draw the graph to `FILE`: .dot, or .svg with Graphviz"},
		}, fileFlags()...),
		Action: inspectAction,
	}
}

func inspectAction(c *cli.Context) error {
	path, err := oneArgument(c, "FILE", "a template, a checkpoint or a graph in text form")
	if err != nil {
		return err
	}
	drawing, text := c.String("graph"), c.Bool("text")
	if c.IsSet("graph") {
		if err := dot.Check(drawing); err != nil {
			return err
		}
	}
	options, err := inspectOptions(c, path)
	if err != nil {
		return err
	}
	options.Graph = text || c.IsSet("graph")
	r, err := inspect.File(path, options)
	if err != nil {
		return err
	}
	o := outputOf(c)
	if text {
		_, err := o.stdout.Write(r.Graph.Text())
		return err
	}
	if c.IsSet("graph") {
		if err := drawGraph(c.Context, o, drawing, r); err != nil {
			return err
		}
	}
	reportInspect(o, path, r)
	return nil
}

// inspectOptions returns the options that the flags set for the file at path. Flags for files of other
// programs are errors if the file is bnctl's.
func inspectOptions(c *cli.Context, path string) (o inspect.Options, err error) {
	o.Verify = c.Bool("verify")
	foreign, err := inspect.Foreign(path)
	if err != nil {
		return o, err
	}
	if !foreign {
		return o, refuse(c, path+" is a file of bnctl", "arch", "key", "drop", "rename", "input", "size")
	}
	o.File, err = modelOptions(c)
	return o, err
}
