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

// reportData says what is in a source.
func reportData(o *output, e *data.Report) {
	o.event("data", e)
	split := ""
	if e.Split != "" {
		split = " (" + e.Split + ")"
	}
	o.result("%s%s: %s, each %s", e.Kind, split, plural(e.Samples, "sample"), e.Sample)
	if len(e.Kinds) > 0 {
		o.result("kinds        %s", data.CountByExtension(e.Kinds))
	}
	if e.Sizes != "" {
		o.result("sizes        %s (width x height)", e.Sizes) // --size has the height first
	}
	o.result("mean         %s", figures(e.Mean))
	o.result("deviation    %s", figures(e.Std))
	o.result("fingerprint  %s", e.Fingerprint)
	if len(e.Classes) == 0 {
		return
	}
	unit := ""
	if e.Masks {
		unit = ", in pixels"
	}
	o.result("%s%s:", plural(len(e.Classes), "class"), unit)
	for _, name := range e.Classes {
		o.result("   %7d  %s", e.PerClass[name], name)
	}
	if e.Unlabelled > 0 {
		o.result("   %7d  ignored (-1)", e.Unlabelled)
	}
}

// reportMeanStd prints mean and deviation of pictures as flags of train.
func reportMeanStd(o *output, e *data.MeanStd) {
	o.event("mean_std", e)
	line := "per %s  --mean %s --std %s  (each counts as one)"
	o.result(line, "pixel", units(e.PixelMean), units(e.PixelStd))
	o.result(line, "image", units(e.ImageMean), units(e.ImageStd))
}

// units writes numbers as flags take them.
func units(v []float64) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprintf("%.4f", v), "[]"), " ", ",")
}

func figures(v []float64) string {
	texts := make([]string, len(v))
	for i, x := range v {
		texts[i] = fmt.Sprintf("%.3f", x)
	}
	return strings.Join(texts, "  ")
}

// drawData writes a picture of samples of a source.
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
