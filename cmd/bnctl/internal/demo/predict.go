package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// strip makes a template from the checkpoint of the second run.
func (d *demo) strip() error {
	d.say("\nStrip the traces of training on many devices.")
	return d.command(func(e event) {
		if e.Event != "strip" {
			return
		}
		var r modelfile.Removed
		if err := json.Unmarshal(e.Removed, &r); err != nil {
			d.checkSame("the output of strip", false)
			return
		}
		d.result.Removed = r
		removed := append([]string{problem.Plural(r.Connections, "replica connection"),
			problem.Plural(r.OptimizerTensors, "optimizer tensor")}, r.Other...)
		d.say("  removed %s", strings.Join(removed, ", "))
		d.say("  sha256 %s", e.SHA256)
		d.checkSame("the stripped checkpoint and the template", e.SHA256 == d.result.SHA256)
	}, "strip", "three.bnc", "-o", "glyphs.bnm")
}

// predict predicts the glyphs that evaluated the training, and compares the loss of the predictions
// with the loss of that evaluation.
func (d *demo) predict() error {
	d.say("\nPredict glyphs that training has not seen.")
	var p playback
	err := d.command(func(e event) {
		for _, v := range e.Outputs {
			p = append(p, v.Data)
		}
	}, "predict", "glyphs.bnm", fmt.Sprintf("glyphs:%d", unseen), "--logits", "--format", "json")
	if err != nil {
		return err
	}
	src, err := glyphs(d.ctx)
	if err != nil {
		return err
	}
	defer src.Close()
	e, err := evaluation.Run(d.ctx, &p, src, evaluation.Options{Batch: unseen})
	if err != nil {
		return err
	}
	d.say("  loss over these outputs %v, in the evaluation of training %v", e.Loss(), d.loss)
	d.checkSame("predictions and the evaluation of training", e.Loss() == d.loss &&
		e.Accuracy() == d.result.Accuracy)
	return nil
}

func glyphs(ctx context.Context) (data.Source, error) {
	return data.Open(ctx, fmt.Sprintf("glyphs:%d", unseen), data.Options{Split: data.Test})
}

// playback is an evaluation.Predictor that returns predictions that were made before, one row after the
// other.
type playback [][]float32

// Predict implements evaluation.Predictor.
func (p *playback) Predict(_ context.Context, x tensor.Tensor) ([]tensor.Tensor, error) {
	n := x.Shape[0]
	if n > len(*p) || len((*p)[0]) == 0 {
		return nil, fmt.Errorf("demo: %d predictions for %d glyphs", len(*p), n)
	}
	out := tensor.New(tensor.F32, n, len((*p)[0]))
	for i, row := range (*p)[:n] {
		copy(out.Rows(i, i+1).F32(), row)
	}
	*p = (*p)[n:]
	return []tensor.Tensor{out}, nil
}

// drawn are the numbers of the glyphs that the demo shows, in ascending order.
var drawn = []int{3, 14, 59, 65, 82}

// draw shows a few glyphs with the predictions of the template.
func (d *demo) draw() error {
	src, err := glyphs(d.ctx)
	if err != nil {
		return err
	}
	defer src.Close()
	last := drawn[len(drawn)-1]
	i := 0
	predicted := map[int]string{}
	err = d.command(func(e event) {
		if len(e.Top) > 0 {
			predicted[i] = fmt.Sprintf("%s (%.1f %%)", e.Top[0].Label, 100*e.Top[0].P)
		}
		i++
	}, "predict", "glyphs.bnm", fmt.Sprintf("glyphs:%d", last+1), "--top", "1")
	if err != nil {
		return err
	}
	return d.gallery(src, predicted)
}

// gallery shows glyphs side by side, each with its prediction below it.
func (d *demo) gallery(src data.Source, predicted map[int]string) error {
	const gap = "  "
	var rows []string
	captions := ""
	for _, i := range drawn {
		picture, err := src.Sample(d.ctx, i)
		if err != nil {
			return err
		}
		lines := braille(picture)
		if rows == nil {
			rows = make([]string, len(lines))
		}
		for k, line := range lines {
			rows[k] += gap + line
		}
		captions += gap + fmt.Sprintf("%-*s", picture.Shape[1]/2, predicted[i])
	}
	for _, row := range append(rows, captions) {
		d.say("%s", row)
	}
	return nil
}
