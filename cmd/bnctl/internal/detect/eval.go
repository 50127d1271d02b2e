package detect

import (
	"context"
	"fmt"
	"io"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/boxes"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/modelfile"
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

// OpenData opens any data, also sets with boxes.
var OpenData = samples.OpenData

// Evaluation evaluates a detector on a set with boxes. Boxes are in pixels of the original pictures.
type Evaluation struct {
	Model   *modelfile.ReadOnly
	Against string // path of a detector to compare the model with; may be ""
	Spec    string // the set; without a suffix its split test is used, or val if it has no test
	Workers int
	View    func(path string) (*modelfile.ReadOnly, error)
	Open    func(v *modelfile.ReadOnly, samples int) (*predict.Predictor, error)
	Output  boxes.Output

	AsCSV    bool      // write CSV in place of the figures
	CSV      io.Writer // receives the CSV: a line for each object and each detection
	Mistakes string    // folder for a page with the worst pictures; may be ""
}

// Detects reports whether a model predicts boxes.
func Detects(m *models.Model) bool { return detect.Detects(m) }

// Evaluating returns o with the limits for boxes that an evaluation uses.
func Evaluating(o predict.Options) predict.Options {
	o.Boxes = &detect.ForEvaluation
	return o
}

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
	first, err := newDetector(e.Model, src, set)
	if err != nil {
		return err
	}
	var second *detector
	if e.Against != "" { // if the other model does not fit, this is an error before anything is evaluated
		v, err := e.View(e.Against)
		if err != nil {
			return err
		}
		defer v.Close()
		if second, err = newDetector(v, src, set); err != nil {
			return fmt.Errorf("--against %s: %w", e.Against, err)
		}
	}
	found, prints, err := e.detect(ctx, first, src, set)
	if err == nil && prints {
		err = e.write(ctx, src, &predict.Details{Boxes: &predict.Detected{Set: set, Found: found}})
	}
	if err != nil || second == nil {
		return err
	}
	others, prints, err := e.detect(ctx, second, src, set)
	if err == nil && prints {
		e.compare(average.Agree(set, found, others, average.ConfusedScore, average.ConfusedOverlap))
	}
	return err
}

// compare prints how many detections of the two detectors agree.
func (e *Evaluation) compare(a *average.Agreement) {
	e.Output.Event("against", a)
	e.Output.Result("against %s: %.2f %% of the boxes agree (%d here, %d there); its AP50 is %.4f, this one's "+
		"%+.4f; its AP is %.4f, this one's %+.4f", e.Against, 100*a.Fraction(), a.Detections, a.Others,
		a.AP50, a.AP50Difference, a.AP, a.APDifference)
}

// detector is a model, and how its classes belong to the classes of the set.
type detector struct {
	*modelfile.ReadOnly
	boxes      *detect.Detector
	modelClass []int // for each class of the set, the class of the model
}

func newDetector(v *modelfile.ReadOnly, src data.Source, set *objects.Set) (*detector, error) {
	if !Detects(v.Model) {
		return nil, problem.New("", "", "the model predicts no boxes", "give a detector")
	}
	match, err := v.Model.MatchClasses(src.Info().Kind, set.Classes)
	if err != nil {
		return nil, err
	}
	b, err := detect.New(v.Model, detect.ForEvaluation)
	return &detector{v, b, match.To}, err
}

// detect returns the detections of a detector in all pictures, and whether this rank prints the figures.
func (e *Evaluation) detect(ctx context.Context, d *detector, src data.Source, set *objects.Set) (
	found []average.Detection, prints bool, err error) {
	predictor, err := e.Open(d.ReadOnly, src.Info().Len)
	if err != nil {
		return nil, false, err
	}
	defer predictor.Close()
	reading := predict.Reading{Workers: e.Workers, Verify: d.Verify}
	_, err = predictor.All(ctx, src, reading, func(i int, outs []tensor.Tensor) error {
		p := &set.Pictures[i]
		detections, err := d.boxes.Boxes(outs, p.Height, p.Width)
		if err != nil {
			return fmt.Errorf("%s: %w", src.Name(i), err)
		}
		for _, b := range detections {
			for class, modelClass := range d.modelClass {
				if modelClass == b.Index {
					c := b.Corners
					found = append(found, average.Detection{Picture: i, Class: class, Score: float64(b.Score),
						Box: objects.Box{X1: c[0], Y1: c[1], X2: c[2], Y2: c[3]}})
				}
			}
		}
		return nil
	})
	return found, predictor.Rank() == 0, err
}

// open opens the set. If training has set a part of the data apart for validation, the suffixes @train and
// @val select the two parts.
func (e *Evaluation) open(ctx context.Context) (data.Source, error) {
	o := data.Options{Split: data.Test, EXIF: true}
	r, err := recipe.Parse(e.Model.Model.Recipe)
	if err != nil || r.ValSplit == nil {
		return OpenData(ctx, e.Spec, o)
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

// write prints the figures, and writes the files that the options request.
func (e *Evaluation) write(ctx context.Context, src data.Source, d *predict.Details) (err error) {
	if e.AsCSV {
		err = d.WriteCSV(e.CSV, e.Model.Model, src)
	} else {
		boxes.Report(e.Output, "evaluation", d.Boxes.Set, d.Boxes.Found)
	}
	if err == nil && e.Mistakes != "" {
		err = d.WriteMistakes(ctx, e.Mistakes, e.Model.Model, src)
	}
	return err
}
