package inprocess

import (
	"context"
	"fmt"
	"image"
	"image/draw"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models/fit"
	"github.com/bnctl/bnctl/predict/answer"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Image is a picture of any size: a file, or pixels.
type Image struct {
	File   []byte        // JPEG, PNG, WebP or any other format of package data
	Pixels tensor.Tensor // u8 [H,W,1 or 3], if File is nil
}

// ImageOf returns the pixels of an image without its alpha channel. Go's decoders give other pixels
// than bnctl for some files, so prefer an Image with File.
func ImageOf(m image.Image) Image {
	b := m.Bounds()
	rgba, ok := m.(*image.RGBA)
	if !ok {
		rgba = image.NewRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
		draw.Draw(rgba, rgba.Rect, m, b.Min, draw.Src)
		b = rgba.Rect
	}
	x := tensor.New(tensor.U8, b.Dy(), b.Dx(), 3)
	for y := range b.Dy() {
		row := rgba.Pix[rgba.PixOffset(b.Min.X, b.Min.Y+y):]
		for i := range b.Dx() {
			copy(x.Bytes[3*(y*b.Dx()+i):][:3], row[4*i:])
		}
	}
	return Image{Pixels: x}
}

// Prediction is the result of a model for one picture.
type Prediction struct {
	// Classes are the classes with the highest probabilities, best first; nil if the model does
	// not predict classes.
	Classes []answer.Class
	// Outputs are the model's outputs, in its order, without the axis of rows.
	Outputs []tensor.Tensor
}

// Predict returns the predictions for pictures, which are decoded, scaled and normalised as the
// template defines. If a picture cannot be read, the error begins with the picture's number, from 0. If
// an output is not finite, the error is a *answer.NotFinite. The other errors are as for Run.
func (p *Predictor) Predict(ctx context.Context, images ...Image) ([]Prediction, error) {
	x, err := p.pixels(ctx, images)
	if err != nil || len(images) == 0 {
		return nil, err
	}
	outputs, err := p.Run(ctx, x)
	if err != nil {
		return nil, err
	}
	all := make([]Prediction, len(images))
	for i := range all {
		for _, out := range outputs {
			row := out.Rows(i, i+1)
			row.Shape = row.Shape[1:]
			all[i].Outputs = append(all[i].Outputs, row)
		}
		if p.answers.Raw || p.answers.Numbers() {
			continue
		}
		if all[i].Classes, err = p.answers.Best(all[i].Outputs); err != nil {
			return nil, fmt.Errorf("image %d: %w", i, err)
		}
	}
	return all, nil
}

// pixels returns the input of the model, u8 [N,H,W,C].
func (p *Predictor) pixels(ctx context.Context, images []Image) (x tensor.Tensor, err error) {
	info := data.Info{DType: tensor.U8}
	if _, err := fit.Model(p.model, info); err != nil {
		return x, err
	}
	t := fit.Transform(p.model, info)
	x = tensor.New(tensor.U8, append([]int{len(images)}, p.model.Input().Shape...)...)
	for i, m := range images {
		row := x.Rows(i, i+1)
		row.Shape = row.Shape[1:]
		if m.File != nil {
			err = t.Decode(ctx, row, m.File, p.model.Preprocess.EXIF)
		} else if err = checkPixels(m.Pixels); err == nil {
			t.Apply(row, m.Pixels, nil)
		}
		if ctx.Err() != nil {
			return x, context.Cause(ctx)
		}
		if err != nil {
			return x, fmt.Errorf("image %d: %w", i, err)
		}
	}
	return x, nil
}

// checkPixels returns an error if a tensor is not a picture.
func checkPixels(x tensor.Tensor) error {
	if x.DType != tensor.U8 || len(x.Shape) != 3 || x.Count() == 0 || len(x.Bytes) != x.Count() ||
		x.Shape[2] != 1 && x.Shape[2] != 3 {
		return problem.Advise("give a file, or pixels u8 [H,W,3]", "%v is not a picture", x)
	}
	return nil
}
