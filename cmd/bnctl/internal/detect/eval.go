package detect

import (
	"context"
	"fmt"
	"io"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/boxes"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/objects"
	"github.com/bnctl/bnctl/objects/average"
	"github.com/bnctl/bnctl/objects/detect"
	"github.com/bnctl/bnctl/objects/samples"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/tensor"
)

// Evaluation evaluates a detector on a set with boxes, in pixels of the original pictures.
type Evaluation struct {
	Model   *models.Model
	Spec    string // the set's source; without a suffix its split test, else val
	Reading predict.Reading
	Open    func(samples int) (*predict.Predictor, error)
	Output  boxes.Output

	AsCSV    bool      // write CSV in place of figures
	CSV      io.Writer // receives a line for each object and detection
	Mistakes string    // folder for a page of the worst pictures; ""
}

// Detects reports whether a model predicts boxes.
func Detects(m *models.Model) bool { return detect.Detects(m) }

// Run predicts all pictures and prints COCO's and VOC's figures.
func (e *Evaluation) Run(ctx context.Context) error {
	src, err := e.open(ctx)
	if err != nil {
		return err
	}
	defer src.Close()
	set, ok := samples.Set(src)
	if !ok {
		return problem.New("data", e.Spec, "the model predicts boxes, and the labels are not boxes",
			"give voc:, coco: or yolo:")
	}
	match, err := e.Model.MatchClasses(src.Info().Kind, set.Classes)
	if err != nil {
		return err
	}
	d, err := detect.New(e.Model, detect.ForEvaluation)
	if err != nil {
		return err
	}
	on, err := e.Open(src.Info().Len)
	if err != nil {
		return err
	}
	defer on.Close()
	var found []average.Detection
	_, err = on.All(ctx, src, e.Reading, func(i int, outs []tensor.Tensor) error {
		p := &set.Pictures[i]
		all, err := d.Boxes(outs, p.Height, p.Width)
		if err != nil {
			return fmt.Errorf("%s: %w", src.Name(i), err)
		}
		for _, b := range all {
			for class, of := range match.To {
				if of == b.Index {
					c := b.Corners
					found = append(found, average.Detection{Picture: i, Class: class, Score: float64(b.Score),
						Box: objects.Box{X1: c[0], Y1: c[1], X2: c[2], Y2: c[3]}})
				}
			}
		}
		return nil
	})
	if err == nil && on.Rank() == 0 {
		err = e.write(ctx, src, &predict.Details{Boxes: &predict.Detected{Set: set, Found: found}})
	}
	return err
}

// open opens the set. If training set a part apart, the suffixes @train and @val name the parts.
func (e *Evaluation) open(ctx context.Context) (data.Source, error) {
	o := data.Options{Split: data.Test, EXIF: true}
	r, err := recipe.Parse(e.Model.Recipe)
	if err != nil || r.ValSplit == nil {
		return samples.OpenData(ctx, e.Spec, o)
	}
	v := r.ValSplit
	src, err := samples.OpenHeldOut(ctx, e.Spec, o, v.Holdout(), v.Fingerprint)
	if err != nil {
		return nil, err
	}
	sum, err := src.Fingerprint(ctx)
	switch {
	case err != nil:
		src.Close()
		return nil, err
	case sum == v.Fingerprint:
		e.Output.Note("the model was trained on these samples, except for %g of them, which %s@val names",
			v.Fraction, e.Spec)
	case sum == r.Data.Fingerprint:
		e.Output.Note("the model was trained on these samples")
	}
	return src, nil
}

// write writes the figures, or the files that are asked for.
func (e *Evaluation) write(ctx context.Context, src data.Source, d *predict.Details) (err error) {
	if e.AsCSV {
		err = d.WriteCSV(e.CSV, e.Model, src)
	} else {
		boxes.Report(e.Output, "evaluation", d.Boxes.Set, d.Boxes.Found)
	}
	if err == nil && e.Mistakes != "" {
		err = d.WriteMistakes(ctx, e.Mistakes, e.Model, src)
	}
	return err
}
