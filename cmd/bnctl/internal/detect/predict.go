package detect

import (
	"context"
	"fmt"
	"image/png"
	"io"
	"os"
	"slices"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/format"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/objects"
	"github.com/bnctl/bnctl/objects/detect"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// writer writes the boxes of pictures. At must be called with the number of a sample before Write is called
// for this sample.
type writer struct {
	src      data.Source
	detector *detect.Detector
	options  Options
	emit     func(p *prediction) error
	end      func() error
	note     func(string, ...any)
	boxes    int // number of boxes of all pictures so far
	pictures int // number of pictures so far
	picture  tensor.Tensor
	named    map[string]int // number of files so far, by name
}

// prediction has the boxes of a picture, in the form of its JSON.
type prediction struct {
	Input  string       `json:"input"`
	Width  int          `json:"width"` // width of the picture, in pixels
	Height int          `json:"height"`
	Boxes  []detect.Box `json:"boxes"`
}

// forms are the forms of output for boxes. All but yolo, which is a folder, have a Writer.
var forms = []string{"json", "csv", "table", yolo, format.COCO}

// yolo is the form with a file of boxes for each picture.
const yolo = "yolo"

// Writer returns a writer of boxes in the form json, csv, coco or table. If the outputs are not read as
// boxes, it returns other: for models that are not detectors, for arrays as inputs, and in other forms. event
// writes a line of JSON, and note a message for the user.
func (o Options) Writer(a *predict.Answers, form string, dst io.Writer, src data.Source, event func(v any),
	note func(string, ...any), other format.Writer) (format.Writer, error) {
	isForm := form != yolo && slices.Contains(forms, form)
	if form != format.COCO && (!isForm || !o.reads(a, src)) {
		if o.lastFlag != "" {
			return nil, problem.New(o.lastFlag, "", "it is for a detector, pictures, and the formats json, csv, "+
				"coco, yolo and table", "leave it off")
		}
		return other, nil
	}
	w, err := o.open(a, form, src, note)
	if err != nil {
		return nil, err
	}
	switch form {
	case "json":
		w.emit = func(p *prediction) error { event(p); return nil }
	case "csv":
		w.toCSV(dst)
	case format.COCO:
		w.toCOCO(dst)
	default:
		w.emit = func(p *prediction) error { return table(dst, p) }
	}
	return w, nil
}

// reads reports whether outputs are read as boxes.
func (o Options) reads(a *predict.Answers, src data.Source) bool {
	return !o.unchanged && detect.Detects(a.Model) && src.Info().Pictures()
}

// On returns the options for running the model. If the outputs are read as boxes in this form, it adds the
// limits for boxes, so that devices return only boxes within them.
func (o Options) On(options predict.Options, a *predict.Answers, form string,
	src data.Source) predict.Options {
	if slices.Contains(forms, form) && o.reads(a, src) {
		options.Boxes = &o.limits
	}
	return options
}

// open returns a writer without a form.
func (o Options) open(a *predict.Answers, form string, src data.Source, note func(string, ...any)) (
	*writer, error) {
	if !o.reads(a, src) {
		return nil, problem.New("format", form, "it is for the boxes of a detector in pictures",
			"name the form of the outputs with {boxes}, or choose another format")
	}
	d, err := detect.New(a.Model, o.limits)
	if err != nil {
		return nil, err
	}
	if l := d.Layout(); l != models.NoLayout && !o.chosen {
		note("the outputs have the form of %s, and are read as boxes; --boxes none prints them as they are", l)
	}
	w := &writer{src: src, detector: d, options: o, named: map[string]int{}, note: note,
		end: func() error { return nil }}
	if o.draw != "" {
		err = os.MkdirAll(o.draw, 0o777)
	}
	return w, err
}

// At prepares the writer for the boxes of sample i.
func (w *writer) At(ctx context.Context, i int) (err error) {
	w.picture, err = w.src.Sample(ctx, i)
	return err
}

// Write writes the boxes in the outputs for the current picture.
func (w *writer) Write(input string, outs []tensor.Tensor) error {
	p := &prediction{Input: input, Width: w.picture.Shape[1], Height: w.picture.Shape[0]}
	var err error
	if p.Boxes, err = w.detector.Boxes(outs, p.Height, p.Width); err != nil {
		return err
	}
	w.pictures, w.boxes = w.pictures+1, w.boxes+len(p.Boxes)
	if w.options.draw != "" {
		if err := w.draw(p); err != nil {
			return err
		}
	}
	return w.emit(p)
}

// End writes the end of the file.
func (w *writer) End() error {
	if limit := w.options.limits.Score; w.boxes == 0 && w.pictures > 0 && limit > 0 && limit < 1 {
		w.note("no box has a score above %g in %s; a smaller --box-score shows more", limit,
			problem.Plural(w.pictures, "picture"))
	}
	return w.end()
}

// draw writes a picture with its boxes drawn over it to the folder draw.
func (w *writer) draw(p *prediction) error {
	var outlines []objects.Outline
	for _, b := range p.Boxes {
		c := b.Corners
		outlines = append(outlines, objects.Outline{Box: objects.Box{X1: c[0], Y1: c[1], X2: c[2], Y2: c[3]},
			Class: b.Index,
			Text:  fmt.Sprintf("%s %.2f", b.Label, b.Score)})
	}
	return regular.WriteFile(w.file(w.options.draw, p.Input, ".png"), 0o666, func(dst io.Writer) error {
		return png.Encode(dst, objects.Draw(w.picture, outlines))
	})
}
