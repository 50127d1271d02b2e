package main

import (
	"context"
	"fmt"
	"image/png"
	"io"
	"strings"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/internal/regular"
)

// reportData prints what a data source contains.
func reportData(o *output, e *data.Report) {
	o.event("data", e)
	o.results(e.Lines())
}

// reportMeanStd prints mean and deviation of pictures as flags of train.
func reportMeanStd(o *output, e *data.MeanStd) {
	o.event("mean_std", e)
	line := "per %s  --mean %s --std %s  (each counts as one)"
	o.result(line, "pixel", units(e.PixelMean), units(e.PixelStd))
	o.result(line, "image", units(e.ImageMean), units(e.ImageStd))
}

// units returns numbers as text in the form of a flag's value.
func units(v []float64) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprintf("%.4f", v), "[]"), " ", ",")
}

// drawData writes a picture file that shows samples of a source.
func drawData(ctx context.Context, o *output, src data.Source, path string, p data.Preview) error {
	grid, n, err := p.Draw(ctx, src)
	if err != nil {
		return err
	}
	err = regular.WriteFile(path, 0o666, func(w io.Writer) error { return png.Encode(w, grid) })
	if err != nil {
		return err
	}
	o.event("data", map[string]any{"output": path, "samples": n})
	o.result("wrote %s with %s", path, plural(n, "sample"))
	return nil
}
