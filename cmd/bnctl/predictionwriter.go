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

// write predicts every sample of src, and writes the predictions to standard output, or to the files of -o.
// It returns the errors of samples that cannot be read.
func (p *prediction) write(ctx context.Context, o *output, a *predict.Answers, predictor *predict.Predictor,
	src data.Source, r predict.Reading) (failed []error, err error) {
	if format.IsFolder(p.format) {
		f := format.Folder{Format: p.format, Path: p.output, Answers: a, Whole: p.whole, Lines: p.lines(a, o.note),
			Boxes: p.boxes, Note: o.note}
		if failed, err = f.Write(ctx, predictor, src, r); err == nil {
			o.note("wrote %s", p.output)
		}
		return failed, err
	}
	fill := func(files []io.Writer) (err error) {
		lines := &output{stdout: files[0], json: true}
		w, err := p.boxes.Writer(a, p.format, files[0], src, func(v any) { lines.event("predict", v) },
			o.note, p.writer(a, files, src, o.note))
		if err == nil {
			failed, err = format.All(ctx, predictor, src, r, w)
		}
		return err
	}
	if predictor.Rank() > 0 { // only rank 0 writes
		return predictor.All(ctx, src, r, nil)
	}
	if p.output == "" {
		out := bufio.NewWriter(o.stdout)
		if err := fill([]io.Writer{out}); err != nil {
			return nil, err
		}
		return failed, out.Flush()
	}
	paths := p.paths(a)
	if err := format.Files(paths, fill); err != nil {
		return nil, err
	}
	o.note("wrote %s", strings.Join(paths, ", "))
	return failed, nil
}

// fitTo determines how samples become inputs, and which output has the classes of pixels.
func (p *prediction) fitTo(a *predict.Answers, src data.Source) (err error) {
	p.whole.Output = a.Scores
	p.whole.Fit, err = format.Fit(p.format, a, p.fit, src.Info())
	return err
}

// lines returns a function that makes writers of predictions as JSON.
func (p *prediction) lines(a *predict.Answers, note func(string, ...any)) func(io.Writer) format.Writer {
	return func(w io.Writer) format.Writer {
		lines := &output{stdout: w, json: true}
		return format.WithNotes(format.JSON(a, func(v any) { lines.event("predict", v) }), a, note)
	}
}

// writer returns a writer of predictions to the files, in the format of p.
func (p *prediction) writer(a *predict.Answers, files []io.Writer, src data.Source,
	note func(string, ...any)) format.Writer {
	switch p.format {
	case "json":
		return p.lines(a, note)(files[0])
	case "csv":
		return format.WithNotes(format.CSV(a, csvTo(files[0])), a, note)
	case "npy":
		return format.WithNotes(format.NPY(a, src.Info().Len, files), a, note)
	}
	return format.WithNotes(format.Table(a, files[0], src), a, note)
}
