package predict

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models/fit"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/predict/answer"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Whole determines how a model that gives each pixel a class sees pictures of any size. The
// zero value is data.CropFit.
type Whole struct {
	Fit     data.Fit
	Overlap float64 // share of a window that the next window shows, too: 0 to 0.9
	Output  int     // the output of the classes, f32 [C,h,w]
}

// Scores predicts every picture of src, in order. It calls each with the picture's number
// and its scores, f32 [C,H,W], at the picture's original size. Overlapping windows are
// averaged. For a picture that was scaled, the scores are scaled back by bilinear
// interpolation. With data.CropFit they are the unchanged output. Otherwise Scores is like
// All.
func (p *Predictor) Scores(ctx context.Context, src data.Source, w Whole, r Reading,
	each func(sample int, scores tensor.Tensor) error) (bad []error, err error) {
	if w.crops() {
		return p.All(ctx, src, r, func(i int, outs []tensor.Tensor) error { return each(i, outs[w.Output]) })
	}
	return p.stitched(ctx, src, w, r, func(i int, scores tensor.Tensor) error {
		if p.Rank() > 0 {
			return nil
		}
		return each(i, scores)
	})
}

// stitched does the same as Scores, for windows, and calls each on every rank.
func (p *Predictor) stitched(ctx context.Context, src data.Source, w Whole, r Reading,
	each func(sample int, scores tensor.Tensor) error) (bad []error, err error) {
	if err := w.check(p); err != nil {
		return nil, err
	}
	windows, err := data.NewWindows(ctx, src, fit.Transform(p.Model, src.Info()), w.Fit, w.Overlap)
	if err == nil {
		err = p.sameWindows(ctx, windows)
	}
	if err != nil {
		return nil, err
	}
	s := &stitch{windows: windows}
	err = p.every(ctx, windows, data.Transform{}, r, func(k int, outs []tensor.Tensor, wrong error) error {
		at := windows.Window(k)
		if wrong == nil && s.err == nil {
			s.err = s.add(outs[w.Output], at)
		} else if s.err == nil {
			s.err = wrong
		}
		if !at.Last {
			return nil
		}
		scores, wrong := s.end(at.Sample)
		if wrong != nil && r.GoOn {
			bad = append(bad, wrong)
			return nil
		}
		if wrong != nil {
			return wrong
		}
		return each(at.Sample, scores)
	})
	return bad, err
}

// check refuses an output without a class for each pixel.
func (w Whole) check(p *Predictor) error {
	o := p.Model.Outputs()[w.Output]
	if t := o.Type; t.DType != tensor.F32 || len(t.Shape) != 3 {
		return problem.New("fit", string(w.Fit), fmt.Sprintf("output %s is %s for each sample, not classes of "+
			"pixels f32[C,H,W]", o.Name, tensor.Describe(t.DType, t.Shape)), "")
	}
	return nil
}

// sameWindows returns an error unless all ranks see the same windows.
func (p *Predictor) sameWindows(ctx context.Context, w *data.Windows) error {
	if p.peers == nil {
		return nil
	}
	mine, err := json.Marshal(w.Info().Len)
	if err != nil {
		return err
	}
	all, err := p.peers.AllGather(ctx, mine)
	if err != nil {
		return err
	}
	for rank, r := range all {
		if string(r) != string(all[0]) {
			return &parallel.RankError{Rank: rank, Advice: "give all ranks the same pictures",
				Text: fmt.Sprintf("its pictures make %s windows, rank 0's %s", r, all[0])}
		}
	}
	return nil
}

// EvaluateWhole evaluates masks at their original size: every pixel of every picture is predicted, and
// labels are never scaled. With data.CropFit it does the same as Evaluate. d, unless nil, stores the answers
// for labels other than masks.
func (p *Predictor) EvaluateWhole(ctx context.Context, src data.Source, w Whole, workers int, d *Details) (
	*evaluation.Evaluation, error) {
	if w.crops() {
		return p.evaluate(ctx, src, workers, d)
	}
	if info := src.Info(); !info.Masks {
		return nil, problem.New("fit", string(w.Fit), "it is for labels that are masks, not for "+info.Kind, "")
	}
	e := &evaluation.Evaluation{Masks: true, PerPixel: true}
	probabilities := evaluation.Loss{}.Probabilities(p.Model.Graph)
	_, err := p.stitched(ctx, src, w, Reading{Workers: workers}, func(i int, scores tensor.Tensor) error {
		mask, err := src.Label(ctx, i)
		if err != nil {
			return err
		}
		scores.Shape = append([]int{1}, scores.Shape...)
		if d != nil && d.Masks > 0 {
			d.observeMask(i, mask, scores)
		}
		return e.Add(scores, tensor.Of(mask, 1, len(mask)), probabilities)
	})
	return e, err
}

// Picture returns the picture that the Scores of a sample describe, u8 [H,W,1 or 3]: the
// sample, or with data.CropFit the part that the model sees.
func (p *Predictor) Picture(ctx context.Context, src data.Source, w Whole, sample int) (
	tensor.Tensor, error) {
	picture, err := src.Sample(ctx, sample)
	if err != nil || !w.crops() {
		return picture, err
	}
	t := fit.Transform(p.Model, src.Info())
	seen := tensor.New(tensor.U8, t.Height, t.Width, t.Channels)
	t.Apply(seen, picture, nil)
	return seen, nil
}

// PixelProbabilities returns the probabilities of the classes of each pixel, f32 [C,H,W]:
// the softmax of Scores, computed in float64 and rounded once, or the scores themselves if
// the model ends in a softmax.
func (p *Predictor) PixelProbabilities(w Whole, scores tensor.Tensor) tensor.Tensor {
	if op, _ := p.Model.Graph.Main.OutputOp(p.Model.Outputs()[w.Output].Of); op == graph.Softmax {
		return scores
	}
	return answer.SoftmaxOfPixels(scores)
}

func (w Whole) crops() bool { return w.Fit == data.CropFit || w.Fit == "" }

// Rows returns the largest number of rows for predicting that number of pictures at once: one for
// each picture if pictures are cropped, and otherwise at least 8, for their windows.
func (w Whole) Rows(pictures int) int {
	const windows = 8
	if w.crops() {
		return pictures
	}
	return max(pictures, windows)
}
