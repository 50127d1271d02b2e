package main

import (
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/data"
)

func skipFlag() cli.Flag {
	return &cli.StringFlag{Name: "skip-bad", DefaultText: "none",
		Usage: "leave out up to `N` picture files that cannot be read, or all"}
}

// skipBad reads --skip-bad.
func skipBad(c *cli.Context) (int, error) {
	text := c.String("skip-bad")
	if text == "" {
		return 0, nil
	}
	if text == "all" {
		return data.SkipAll, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, misuse("--skip-bad %q: want a number of files, or all", text)
	}
	return n, nil
}
