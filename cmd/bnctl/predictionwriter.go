package main

import (
	"bufio"
	"context"
	"io"
	"strings"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/format"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/predict"
)

// write predicts every sample of src, and writes to standard output, or to the
// files of -o. It returns what could not be read.
func (p *prediction) write(ctx context.Context, o *output, a *predict.Answers, on *predict.Predictor,
	src data.Source, r predict.Reading) (bad []error, err error) {
	if p.folder() {
		if bad, err = format.Whole(ctx, on, src, p.whole, r, p.format, p.output); err == nil {
			o.note("wrote %s", p.output)
		}
		return bad, err
	}
	fill := func(files []io.Writer) (err error) {
		bad, err = format.All(ctx, on, src, r, format.WithNotes(p.writer(a, files, src), a, o.note))
		return err
	}
	if on.Rank() > 0 { // rank 0 writes
		return on.All(ctx, src, r, nil)
	}
	if p.output == "" {
		out := bufio.NewWriter(o.stdout)
		if err := fill([]io.Writer{out}); err != nil {
			return nil, err
		}
		return bad, out.Flush()
	}
	paths := p.paths(a)
	if err := format.Files(paths, fill); err != nil {
		return nil, err
	}
	o.note("wrote %s", strings.Join(paths, ", "))
	return bad, nil
}

// fitTo settles how samples become inputs, and which output has the classes of pixels.
func (p *prediction) fitTo(a *predict.Answers, src data.Source) (err error) {
	p.whole.Output = a.Chosen[0]
	p.whole.Fit, err = format.Fit(p.format, p.fit, src.Info())
	return err
}

// writer returns what writes the format to the files.
func (p *prediction) writer(a *predict.Answers, files []io.Writer, src data.Source) format.Writer {
	switch p.format {
	case "json":
		lines := &output{stdout: files[0], json: true}
		return format.JSON(a, func(v any) { lines.event("predict", v) })
	case "csv":
		return format.CSV(a, files[0])
	case "npy":
		return format.NPY(a, src.Info().Len, files)
	}
	return format.Table(a, files[0], src)
}
