package main

import (
	"github.com/urfave/cli/v2"

	reports "github.com/bnctl/bnctl/cmd/bnctl/internal/report"
)

func reportCommand() *cli.Command {
	return &cli.Command{
		Name:      "report",
		Usage:     "a page of a run, or of several side by side: curves, classes, batch norms over time",
		ArgsUsage: "DIR...",
		Description: `Writes an HTML page that refers to no other file. DIR is the folder that train --log-dir ` +
			`has filled;
a checkpoint, NAME.bnc, or the JSON lines of train --json will do, and have less to show. The
page of one folder is written into it, with curves.svg and confusion.svg. Of several runs it
shows the differences in recipe, data and code, and the results.

   bnctl report logs
   bnctl report logs/sync logs/replica -o compare.html
   bnctl report cifar.bnc`,
		Flags: []cli.Flag{&cli.StringFlag{Name: "output", Aliases: []string{"o"},
			Usage: "`FILE` to write", DefaultText: "DIR/report.html of one folder, else report.html"}},
		Action: func(c *cli.Context) error {
			written, notes, err := reports.Write(c.String("output"), c.Args().Slice()...)
			for _, n := range notes {
				outputOf(c).note("%s", n)
			}
			if err != nil {
				return err
			}
			reportWritten(outputOf(c), written)
			return nil
		},
	}
}
