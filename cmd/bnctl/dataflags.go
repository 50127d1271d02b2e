package main

import (
	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/data"
)

// sourceFlags determine how a data source is read.
func sourceFlags() []cli.Flag {
	return []cli.Flag{skipFlag(),
		&cli.StringFlag{Name: "mask-values", DefaultText: "0,1,2 ...",
			Usage: "of masks: which values of pixels are classes 0, 1 ..., as `V,V`"},
		&cli.StringFlag{Name: "ignore", DefaultText: "255",
			Usage: "of masks: which values of pixels count for nothing, as `V,V`"},
		&cli.StringFlag{Name: "csv-columns", DefaultText: "by their usual names",
			Usage: "names of columns of csv:, `path=NAME,label=NAME`, target= (numbers), split=, group=, weight="}}
}

func maskOptions(c *cli.Context) data.MaskOptions {
	return data.MaskOptions{Values: c.String("mask-values"), Ignore: c.String("ignore")}
}

func skipFlag() cli.Flag {
	return &cli.StringFlag{Name: "skip-bad", DefaultText: "none",
		Usage: "leave out up to `N` picture files that cannot be read, or all"}
}

// sourceOptions reads sourceFlags.
func sourceOptions(c *cli.Context, split data.Split) (data.Options, error) {
	skip, err := data.ParseSkip(c.String("skip-bad"))
	return data.Options{Split: split, SkipBad: skip, Masks: maskOptions(c),
		Columns: c.String("csv-columns")}, err
}

// exifFlag returns the flag about the EXIF orientation of pictures. otherwise describes the default.
func exifFlag(otherwise string) cli.Flag {
	return &cli.StringFlag{Name: "exif", Usage: "apply the orientation in picture files, or ignore it",
		DefaultText: otherwise}
}
