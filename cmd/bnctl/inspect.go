package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/train"
)

func inspectCommand() *cli.Command {
	return &cli.Command{
		Name: "inspect",
		Usage: "what is in a model file: layers, FLOPs, batch norm statistics, recipe, what only training " +
			"needs",
		ArgsUsage: "FILE",
		Description: `Reads a template (.bnm), a checkpoint (.bnc), a graph in text form or the file of
another program, and shows what it holds. Our own files are verified, every byte
of them; others with --verify.

   bnctl inspect model.bnm
   bnctl inspect run.bnc --json
   bnctl inspect run.bnc --text                  the graph, with its replica connections
   bnctl inspect model.bnm --graph model.svg     drawn by Graphviz; model.dot is what it draws
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
	if c.IsSet("graph") {
		if err := canDraw(c.String("graph")); err != nil {
			return err
		}
	}
	foreign, err := isForeign(path)
	if err != nil {
		return err
	}
	if foreign {
		return inspectForeign(c, path)
	}
	if err := without(c, path+" is bnctl's own file", "arch", "key", "drop"); err != nil {
		return err
	}
	s, err := inspect(path)
	if err != nil {
		return err
	}
	defer s.close()
	return s.show(c)
}

// show prints the graph, draws it, or says what is in the file.
func (s *inspected) show(c *cli.Context) error {
	o := outputOf(c)
	if c.Bool("text") {
		_, err := o.stdout.Write(s.graph.Text())
		return err
	}
	if c.IsSet("graph") {
		path := c.String("graph")
		write := func(w io.Writer) error { return draw(c.Context, w, path, s.graph.Main) }
		if err := serialize.WriteFile(path, write); err != nil {
			return err
		}
		o.note("wrote %s", path)
	}
	return s.report(o)
}

// isForeign reports whether a file is neither bnctl's nor a graph in text form.
func isForeign(path string) (bool, error) {
	ours, err := modelfile.Own(path)
	if ours || err != nil {
		return false, err
	}
	text, err := modelfile.GraphText(path)
	return text == nil, err
}

// inspected is what a file of bnctl holds.
type inspected struct {
	format, kind string
	graph        *graph.Graph       // as it is in the file
	model        *models.Model      // without what only training needs; its state is nil for a mere graph
	removed      *serialize.Removed // what only training needs; nil if there is none
	progress     json.RawMessage    // of a checkpoint
	lag          *train.Lag         // of a checkpoint whose replicas have weights of their own; nil
	closer       io.Closer          // of the file that the tensors lie in; nil
}

func (s *inspected) close() {
	if s.closer != nil {
		s.closer.Close()
	}
}

func inspect(path string) (*inspected, error) {
	if text, err := modelfile.GraphText(path); err != nil || text != nil {
		return inspectGraph(path, text, err)
	}
	f, err := serialize.Open(path)
	if err != nil {
		return nil, err
	}
	s, err := inspectFile(f)
	if err != nil {
		f.Close()
	}
	return s, err
}

func inspectGraph(path string, text []byte, err error) (*inspected, error) {
	if err != nil {
		return nil, err
	}
	g, err := graph.ParseGraph(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m, err := models.New(g)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &inspected{format: "text", kind: "template", graph: g, model: m}, nil
}

func inspectFile(f *serialize.File) (*inspected, error) {
	if f.Kind == serialize.Template {
		m, err := f.Model()
		if err != nil {
			return nil, err
		}
		return &inspected{format: "bnm", kind: string(f.Kind), graph: m.Graph, model: m, closer: f}, nil
	}
	k, err := f.Checkpoint()
	if err != nil {
		return nil, err
	}
	m, removed, err := serialize.Strip(k)
	if err != nil {
		return nil, err
	}
	lag, err := train.LagOf(k)
	if err != nil {
		return nil, err
	}
	return &inspected{"bnc", string(f.Kind), k.Graph, m, &removed, k.Progress, lag, f}, nil
}
