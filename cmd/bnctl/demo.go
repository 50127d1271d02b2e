package main

import (
	"os"

	"github.com/urfave/cli/v2"
)

func demoCommand() *cli.Command {
	return &cli.Command{
		Name:  "demo",
		Usage: "the promise in a minute, without files or network",
		Description: `Trains a small network on glyphs on one device; trains the same recipe on three,
kills one of them half-way, and shows that both templates have one sha256. Then
strips, lists the removed parts, lets doctor find a NaN that it has planted, and
predicts glyphs that training has not seen.
Every line that begins with $ can be pasted.

   bnctl demo
   bnctl demo --keep files
   bnctl demo --json | tail -1`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "keep", Usage: "work in `DIR` and leave the files there"},
		},
		Action: demoAction,
	}
}

func demoAction(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return showDemo(c.Context, outputOf(c), self, c.String("keep"))
}
