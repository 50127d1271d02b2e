package data

import (
	"fmt"

	"github.com/bnctl/bnctl/data/augmentation"
	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/tensor"
)

// Transform states how a picture becomes an input of the size that a model accepts. The zero value leaves
// pictures unchanged. Arrays that are not pictures are never changed.
type Transform struct {
	// Height and Width are the size of the result. If both are zero, it is the size of the
	// source's pictures, which must all be equal.
	Height, Width int
	// Resize is the length in pixels of the shorter side after scaling, with antialias, before the centre crop.
	// 0 means the smallest size that covers the result; then a picture that already has the size of the result
	// is not scaled.
	Resize int
	// Filter is the kernel of scaling.
	Filter images.Filter
	// Channels is the number of channels: 1 (grey: ITU-R 601 luma), 3 (RGB), or 0 for the channels of the
	// source.
	Channels int
	// BGR reverses the order of three channels.
	BGR bool
	// Letterbox scales a picture until it fits into the result, places it at the upper left corner, and fills
	// the rest with the grey 114, as YOLOX does. Resize must be 0.
	Letterbox bool
	// Augment is the augmentation in training. The preset ImageNet is used in place of Resize and the centre
	// crop.
	Augment augmentation.Augmentation
}

// Shape returns the shape that a sample of a source has after the transform. For pictures it is [height,
// width, channels]. It is an error if the transform does not fit the source.
func (t Transform) Shape(info Info) ([]int, error) {
	if !info.Pictures() {
		if !t.Augment.IsNone() {
			return nil, fmt.Errorf("augmentation %s is for pictures; the samples are %s", t.Augment,
				tensor.Describe(info.DType, info.Shape))
		}
		return info.Shape, nil
	}
	if err := CheckAugment(t.Augment, info); err != nil {
		return nil, err
	}
	if t.Height < 0 || t.Width < 0 || (t.Height == 0) != (t.Width == 0) {
		return nil, fmt.Errorf("result size %d x %d is not valid", t.Height, t.Width)
	}
	if t.Channels != 0 && t.Channels != 1 && t.Channels != 3 {
		return nil, fmt.Errorf("pictures have 1 or 3 channels, not %d", t.Channels)
	}
	shape := []int{t.Height, t.Width, 3}
	if info.Shape != nil {
		shape[2] = info.Shape[2]
	}
	if t.Height == 0 {
		if info.Shape == nil {
			return nil, fmt.Errorf("the pictures have several sizes; a result size is needed")
		}
		shape[0], shape[1] = info.Shape[0], info.Shape[1]
	}
	if t.Channels != 0 {
		shape[2] = t.Channels
	}
	if t.Resize != 0 && t.Resize < max(shape[0], shape[1]) {
		return nil, fmt.Errorf("the shorter side scaled to %d does not cover a crop of %d x %d",
			t.Resize, shape[1], shape[0])
	}
	return shape, nil
}

// Apply writes the transformed picture to dst, which has the shape that Transform.Shape returns. The random
// numbers of d determine the augmentation. If d is nil, there is no augmentation.
func (t Transform) Apply(dst, picture tensor.Tensor, d *tensor.Draws) {
	t.write(dst, picture, func(out, src images.Plane) { t.Augment.Apply(t.scaling(), out, src, d) })
}

// applyView writes the view v of a picture to dst. As in Apply, pixels outside of the picture are black, or
// grey in a letterbox.
func (t Transform) applyView(dst, picture tensor.Tensor, v images.View) {
	t.write(dst, picture, func(out, src images.Plane) { t.scaling().Draw(out, src, v) })
}

// write makes dst. It calls draw for a picture that has the size of dst and the channels of picture, and
// converts the result to the channels of dst.
func (t Transform) write(dst, picture tensor.Tensor, draw func(out, src images.Plane)) {
	src := images.Plane{H: picture.Shape[0], W: picture.Shape[1], C: picture.Shape[2], Pix: picture.Bytes}
	out := images.Plane{H: dst.Shape[0], W: dst.Shape[1], C: dst.Shape[2], Pix: dst.Bytes}
	if src.C == out.C {
		draw(out, src)
	} else {
		same := images.NewPlane(out.H, out.W, src.C)
		draw(same, src)
		images.Convert(out, same)
	}
	if t.BGR && out.C == 3 {
		for i := 0; i < len(out.Pix); i += 3 {
			out.Pix[i], out.Pix[i+2] = out.Pix[i+2], out.Pix[i]
		}
	}
}

func (t Transform) scaling() images.Scaling {
	return images.Scaling{Resize: t.Resize, Filter: t.Filter, Letterbox: t.Letterbox}
}
