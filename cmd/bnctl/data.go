package main

import (
	"fmt"
	"image/png"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

func dataCommand() *cli.Command {
	return &cli.Command{
		Name:  "data",
		Usage: "what is in a data source",
		Description: `   bnctl data info cifar10:cifar-10.tar.gz@test
   bnctl data show glyphs -o grid.png`,
		Subcommands: []*cli.Command{
			{Name: "info", Usage: "samples, classes, sizes, mean and deviation; reads everything", ArgsUsage: "SRC",
				Description: `   bnctl data info glyphs
   bnctl data info folder:photos --json
   bnctl data info folder:photos --skip-bad all`, Flags: []cli.Flag{skipFlag()}, Action: dataInfo},
			{Name: "show", Usage: "draw the first samples into one picture", ArgsUsage: "SRC",
				Description: `   bnctl data show glyphs -o grid.png
   bnctl data show cifar10:cifar-10.tar.gz -o grid.png --count 100 --columns 10`,
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "`FILE` to write: .png"},
					skipFlag(),
					&cli.IntFlag{Name: "count", Value: 64, Usage: "samples"},
					&cli.IntFlag{Name: "columns", Value: 8, Usage: "samples in a row"},
					&cli.IntFlag{Name: "side", Value: 64, Usage: "pixels of the longer side of a sample"},
				}, Action: dataShow},
		},
	}
}

// openOne opens the only argument as a data source.
func openOne(c *cli.Context) (data.Source, error) {
	spec, err := oneArgument(c, "SRC", "glyphs, cifar10:PATH, mnist:PATH, folder:PATH or npy:X.npy,Y.npy")
	if err != nil {
		return nil, err
	}
	skip, err := skipBad(c)
	if err != nil {
		return nil, err
	}
	options := data.Options{Split: data.Train, SkipBad: skip, Array: modelfile.LikelyArrays(outputOf(c).note)}
	if c.Command.Name != "info" {
		return data.Open(spec, options)
	}
	options.SkipBad = data.SkipAll // it reads everything, and tells of all bad files
	src, err := data.Open(spec, options)
	if err != nil {
		return nil, err
	}
	if i := src.Info(); skip != data.SkipAll && len(i.Skipped) > skip {
		src.Close()
		return nil, fmt.Errorf("%s: %w", spec, &data.BadFiles{All: i.Skipped, Of: i.Len + len(i.Skipped)})
	}
	return src, nil
}

// dataEvent is the line of data info --json.
type dataEvent struct {
	Kind        string         `json:"kind"`
	Split       string         `json:"split"`
	Samples     int            `json:"samples"`
	Sample      string         `json:"sample"` // type and shape, or "RGB pictures"
	Classes     []string       `json:"classes"`
	PerClass    map[string]int `json:"per_class"`
	Ignored     int            `json:"ignored"`
	Sizes       string         `json:"sizes,omitempty"`
	Mean        []float64      `json:"mean"`
	Std         []float64      `json:"std"`
	Fingerprint string         `json:"fingerprint"`
	Kinds       map[string]int `json:"kinds,omitempty"`         // endings of the files of samples
	Others      map[string]int `json:"files_ignored,omitempty"` // endings of other files
	Empty       []string       `json:"empty_folders,omitempty"`
	Skipped     int            `json:"skipped,omitempty"`
}

func dataInfo(c *cli.Context) error {
	src, err := openOne(c)
	if err != nil {
		return err
	}
	defer src.Close()
	info := src.Info()
	s, err := data.Describe(c.Context, src)
	if err != nil {
		return err
	}
	sum, err := src.Fingerprint(c.Context)
	if err != nil {
		return err
	}
	e := dataEvent{Kind: info.Kind, Split: string(info.Split), Samples: info.Len, Sample: sampleForm(info),
		Classes: info.Classes, PerClass: map[string]int{}, Ignored: s.Ignored, Sizes: s.Sizes(),
		Mean: s.Mean, Std: s.Std, Fingerprint: sum,
		Kinds: info.Kinds, Others: info.Ignored, Empty: info.Empty, Skipped: len(info.Skipped)}
	for i, n := range s.PerClass {
		e.PerClass[info.Classes[i]] = n
	}
	o := outputOf(c)
	o.event("data", e)
	printData(o, e)
	tellOfFiles(o, "data info", info)
	return nil
}

func sampleForm(i data.Info) string {
	if i.Shape == nil {
		return "RGB pictures"
	}
	return tensor.Describe(i.DType, i.Shape)
}

func printData(o *output, e dataEvent) {
	split := ""
	if e.Split != "" {
		split = " (" + e.Split + ")"
	}
	o.result("%s%s: %d samples, each %s", e.Kind, split, e.Samples, e.Sample)
	if len(e.Kinds) > 0 {
		o.result("kinds        %s", kindList(e.Kinds))
	}
	if e.Sizes != "" {
		o.result("sizes        %s", e.Sizes)
	}
	o.result("mean         %s", figures(e.Mean))
	o.result("deviation    %s", figures(e.Std))
	o.result("fingerprint  %s", e.Fingerprint)
	if len(e.Classes) == 0 {
		return
	}
	o.result("%d classes:", len(e.Classes))
	for _, name := range e.Classes {
		o.result("   %7d  %s", e.PerClass[name], name)
	}
	if e.Ignored > 0 {
		o.result("   %7d  ignored (-1)", e.Ignored)
	}
}

func figures(v []float64) string {
	s := ""
	for i, x := range v {
		if i > 0 {
			s += "  "
		}
		s += fmt.Sprintf("%.3f", x)
	}
	return s
}

func dataShow(c *cli.Context) error {
	path := c.String("output")
	if err := wantEnding("data show", path, ".png"); err != nil {
		return err
	}
	for _, flag := range []string{"count", "columns", "side"} {
		if n := c.Int(flag); n < 1 || n > 4096 {
			return misuse("--%s %d: want 1 to 4096", flag, n)
		}
	}
	src, err := openOne(c)
	if err != nil {
		return err
	}
	defer src.Close()
	samples := make([]int, min(c.Int("count"), src.Info().Len))
	for i := range samples {
		samples[i] = i
	}
	grid, err := data.Grid(src, samples, c.Int("columns"), c.Int("side"))
	if err != nil {
		return err
	}
	err = serialize.WriteFile(path, func(w io.Writer) error { return png.Encode(w, grid) })
	if err != nil {
		return err
	}
	o := outputOf(c)
	o.event("data", map[string]any{"output": path, "samples": len(samples)})
	o.result("wrote %s with %d samples", path, len(samples))
	return nil
}
