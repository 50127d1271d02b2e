package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// fileFlags say what of a foreign file is the model.
func fileFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "arch", Usage: "`NAME` of the zoo, or a graph file: what a file of mere tensors holds"},
		&cli.StringFlag{Name: "key", Usage: "`NAME` of the state dict in a PyTorch checkpoint"},
	}
}

// own reports whether a file is one of bnctl's: a template or a checkpoint.
func own(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, len("\x89BNM"))
	if _, err := io.ReadFull(f, head); err != nil {
		return false, nil
	}
	return bytes.Equal(head, []byte("\x89BNM")) || bytes.Equal(head, []byte("\x89BNC")), nil
}

// openModel reads the model of any file: a template, or a foreign file, whose
// preprocessing only the flags can tell.
func openModel(c *cli.Context, path string) (*models.Model, error) {
	ours, err := own(path)
	if err != nil {
		return nil, err
	}
	if ours {
		if err := without(c, path+" is bnctl's own file", "arch", "key", "ema"); err != nil {
			return nil, err
		}
		m, err := serialize.ReadModel(path)
		if err != nil {
			return nil, err
		}
		return preprocessed(c, m)
	}
	f, err := openForeign(c, []string{path})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := foreignModel(c, f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// openForeign opens foreign files: one, or those of the ranks of a run.
func openForeign(c *cli.Context, paths []string) (*formats.File, error) {
	o := formats.Options{Key: c.String("key"), EMA: c.Bool("ema")}
	if rule := c.String("merge"); rule != "" {
		r, err := bn.ParseRule(rule)
		if err != nil {
			return nil, misuse("--merge: %v", err)
		}
		o.Merge = r
	}
	return formats.OpenRanks(paths, o)
}

// foreignModel returns the model of a foreign file, with the preprocessing of
// the flags: the file itself says nothing of it.
func foreignModel(c *cli.Context, f *formats.File) (*models.Model, error) {
	as, err := architectureOf(c, f)
	if err != nil {
		return nil, err
	}
	m, err := formats.Template(f, as)
	if err != nil {
		return nil, err
	}
	unknown := *m
	unknown.Preprocess = models.Preprocess{}
	return preprocessed(c, &unknown)
}

// architectureOf returns the model that --arch names, without state; nil
// without the flag.
func architectureOf(c *cli.Context, f *formats.File) (*models.Model, error) {
	name := c.String("arch")
	if name == "" {
		return nil, nil
	}
	text, err := graphText(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if text != nil {
		g, err := graph.ParseGraph(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return models.New(g)
	}
	if _, err := architecture(name); err != nil {
		return nil, err
	}
	m, err := models.Build(name, models.Options{})
	if err != nil {
		return nil, err
	}
	last := m.Graph.State[len(m.Graph.State)-1] // of the head: one element for each class
	if t, ok := f.Tensor(last.Name); ok && len(t.Shape) == 1 && t.Shape[0] != last.Shape[0] {
		return models.Build(name, models.Options{Classes: t.Shape[0]})
	}
	return m, nil
}

// readState reads all tensors of a model file, whatever it is.
func readState(path string) (map[string]tensor.Tensor, error) {
	ours, err := own(path)
	if err != nil {
		return nil, err
	}
	if ours {
		m, err := serialize.ReadModel(path)
		if err != nil {
			return nil, err
		}
		return m.State, nil
	}
	f, err := formats.Open(path, formats.Options{})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	state := make(map[string]tensor.Tensor, len(f.Tensors))
	for _, t := range f.Tensors {
		if t.DType != tensor.F32 && t.DType != tensor.F64 && t.DType != tensor.F16 && t.DType != tensor.BF16 {
			continue // counters
		}
		if state[t.Name], err = t.Load(); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return state, nil
}
