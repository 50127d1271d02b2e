package main

import (
	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/data"
)

func skipFlag() cli.Flag {
	return &cli.StringFlag{Name: "skip-bad", DefaultText: "none",
		Usage: "leave out up to `N` picture files that cannot be read, or all"}
}

// skipBad reads --skip-bad.
func skipBad(c *cli.Context) (int, error) {
	return data.ParseSkip(c.String("skip-bad"))
}
