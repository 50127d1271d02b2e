package detect

import (
	"context"
	"encoding/csv"
	"fmt"
	"image/png"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/format"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/internal/legible"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/objects"
	"github.com/bnctl/bnctl/objects/detect"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// writer writes the boxes of pictures in the order of samples. At is called before each Write with the number
// of the sample.
type writer struct {
	src      data.Source
	detector *detect.Detector
	options  Options
	emit     func(p *prediction) error
	end      func() error
	picture  tensor.Tensor
	drawn    map[string]int // files by their names
}

// prediction is the boxes of a picture, as JSON has them.
type prediction struct {
	Input  string       `json:"input"`
	Width  int          `json:"width"` // of the picture, in pixels
	Height int          `json:"height"`
	Boxes  []detect.Box `json:"boxes"`
}

// Writer returns a writer of boxes in the form json, csv or table. It returns other if the outputs are
// written as they are: of another model, of arrays, or in another form. event writes a line of JSON, and
// note one for people.
func (o Options) Writer(a *predict.Answers, form string, to io.Writer, src data.Source, event func(v any),
	note func(string, ...any), other format.Writer) (format.Writer, error) {
	isForm := slices.Contains([]string{"json", "csv", "table"}, form)
	if o.unchanged || !detect.Detects(a.Model) || !src.Info().Pictures() || !isForm {
		if o.given != "" {
			return nil, problem.New(o.given, "", "it is for a detector, pictures, and the formats json, csv and table",
				"leave it off")
		}
		return other, nil
	}
	d, err := detect.New(a.Model, o.limits)
	if err != nil {
		return nil, err
	}
	if l := d.Layout(); l != models.NoLayout {
		note("the outputs have the form of %s, and are read as boxes; --logits prints them as they are", l)
	}
	w := &writer{src: src, detector: d, options: o, drawn: map[string]int{}, end: func() error { return nil }}
	switch form {
	case "json":
		w.emit = func(p *prediction) error { event(p); return nil }
	case "csv":
		w.toCSV(to)
	default:
		w.emit = func(p *prediction) error { return table(to, p) }
	}
	if o.draw != "" {
		err = os.MkdirAll(o.draw, 0o777)
	}
	return w, err
}

// At reads the picture of sample i.
func (w *writer) At(ctx context.Context, i int) (err error) {
	w.picture, err = w.src.Sample(ctx, i)
	return err
}

// Write writes the boxes of the outputs for the picture.
func (w *writer) Write(input string, outs []tensor.Tensor) error {
	p := &prediction{Input: input, Width: w.picture.Shape[1], Height: w.picture.Shape[0]}
	var err error
	if p.Boxes, err = w.detector.Boxes(outs, p.Height, p.Width); err != nil {
		return err
	}
	if w.options.draw != "" {
		if err := w.draw(p); err != nil {
			return err
		}
	}
	return w.emit(p)
}

// End finishes the file.
func (w *writer) End() error { return w.end() }

// draw writes the picture with its boxes to the folder. Of pictures with one name, the later have a number.
func (w *writer) draw(p *prediction) error {
	var all []objects.Outline
	for _, b := range p.Boxes {
		c := b.Corners
		all = append(all, objects.Outline{Box: objects.Box{X1: c[0], Y1: c[1], X2: c[2], Y2: c[3]}, Class: b.Index,
			Text: fmt.Sprintf("%s %.2f", b.Label, b.Score)})
	}
	name := path.Base(filepath.ToSlash(p.Input))
	name = strings.TrimSuffix(name, path.Ext(name))
	if w.drawn[name]++; w.drawn[name] > 1 {
		name = fmt.Sprintf("%s-%d", name, w.drawn[name])
	}
	return regular.WriteFile(filepath.Join(w.options.draw, name+".png"), 0o666, func(to io.Writer) error {
		return png.Encode(to, objects.Draw(w.picture, all))
	})
}

// toCSV writes a row for each box.
func (w *writer) toCSV(to io.Writer) {
	out := csv.NewWriter(to)
	_ = out.Write([]string{"input", "label", "index", "score", "x1", "y1", "x2", "y2"}) // Error has its error
	w.emit = func(p *prediction) error {
		for _, b := range p.Boxes {
			row := []string{p.Input, b.Label, fmt.Sprint(b.Index), fmt.Sprint(b.Score)}
			for _, v := range b.Corners {
				row = append(row, fmt.Sprint(v))
			}
			_ = out.Write(row)
		}
		return out.Error()
	}
	w.end = func() error {
		out.Flush()
		return out.Error()
	}
}

// table writes a line for each picture, and one for each of its boxes.
func table(to io.Writer, p *prediction) error {
	text := legible.Sprintf("%s  %dx%d  %s\n", p.Input, p.Width, p.Height, problem.Plural(len(p.Boxes), "box"))
	for _, b := range p.Boxes {
		c := b.Corners
		text += legible.Sprintf("  %-12s %.4f  %.1f,%.1f - %.1f,%.1f\n", b.Label, b.Score, c[0], c[1], c[2], c[3])
	}
	_, err := io.WriteString(to, text)
	return err
}
