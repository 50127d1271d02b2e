package main

import (
	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/boxes"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/problem"
)

func dataShow(c *cli.Context) error {
	path := c.String("output")
	if err := wantExtension("data show", path, ".png"); err != nil {
		return err
	}
	for _, flag := range []string{"count", "columns", "side"} {
		if n := c.Int(flag); n < 1 || n > 4096 {
			return misuse("--%s %d: want 1 to 4096", flag, n)
		}
	}
	if done, err := boxes.Show(c, boxesOutput(c)); done {
		return err
	}
	src, err := openOne(c, data.Open)
	if err != nil {
		return err
	}
	defer src.Close()
	p, err := previewOf(c)
	if err != nil {
		return err
	}
	return drawData(c.Context, outputOf(c), src, path, p)
}

// previewOf returns how data show draws its picture, by its flags.
func previewOf(c *cli.Context) (data.Preview, error) {
	p := data.Preview{Seed: c.Uint64("seed"), Count: c.Int("count"), Columns: c.Int("columns"),
		Side: c.Int("side")}
	if text := c.String("augment"); text != "" {
		if err := p.Augment.UnmarshalText([]byte(text)); err != nil {
			return p, problem.Wrap("augment", err)
		}
		p.IsTraining = true
	}
	return p, nil
}
