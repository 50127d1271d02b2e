package data

import (
	"fmt"
	"math"

	"github.com/bnctl/bnctl/data/augmentation"
	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// BoxFields is the number of elements of a box in a label of a source with Info.Boxes, which has
// LabelShape [boxes, BoxFields]: see Box.
const BoxFields = 5

// NoBox is the class of the boxes that fill the unused rest of a label.
const NoBox = -1

// Box is a half-open box of a label, in pixels of the sample: the corners x1, y1, x2, y2. Class -1 means that
// there is no box. The class of an ignored object of class c, for example a difficult one, is -2 - c. An
// ignored object counts neither as an object nor as background.
type Box struct {
	Corners [4]float32
	Class   int32
}

// BoxOf returns the box in the first BoxFields elements of a label.
func BoxOf(label []int32) (b Box) {
	for i := range b.Corners {
		b.Corners[i] = Number(label[i])
	}
	b.Class = label[4]
	return b
}

// Put writes b to the first BoxFields elements of a label.
func (b Box) Put(label []int32) {
	for i, v := range b.Corners {
		label[i] = int32(math.Float32bits(v))
	}
	label[4] = b.Class
}

// Frame is the position of a picture in the input of a model: point (x, y) of the picture is at point
// (x*scaleX - f.x, y*scaleY - f.y) of the input.
type Frame struct{ scaleX, scaleY, x, y float64 }

// Frame returns the position that a picture of this size has in a result of t, without augmentation.
func (t Transform) Frame(height, width int) Frame {
	dst, src := images.Plane{H: t.Height, W: t.Width}, images.Plane{H: height, W: width}
	return frameOf(t.scaling().Whole(dst, src), src)
}

// Undo converts the corners of a box from pixels of the input to pixels of the picture.
func (f Frame) Undo(corners [4]float32) (c [4]float64) {
	for i, v := range corners {
		scale, offset := f.scaleX, f.x
		if i%2 == 1 {
			scale, offset = f.scaleY, f.y
		}
		c[i] = (float64(v) + offset) / scale
	}
	return c
}

// frameOf returns the position of the picture src in its view v.
func frameOf(v images.View, src images.Plane) Frame {
	return Frame{float64(v.W) / float64(src.W), float64(v.H) / float64(src.H), float64(v.X), float64(v.Y)}
}

// applyBoxes writes the boxes of a picture to dst, in pixels of a result of h x w pixels. It uses the same
// draws as Apply, so that boxes move with their pixels. Boxes are cut at the border of the result. If less
// than a quarter of an object is left, the object is ignored. An object outside of the result is removed.
func (t Transform) applyBoxes(dst, label []int32, h, w int, picture tensor.Tensor, d *tensor.Draws) {
	out, src := images.Plane{H: h, W: w}, images.Plane{H: picture.Shape[0], W: picture.Shape[1]}
	v, mirrored := t.Augment.DrawPosition(t.scaling(), out, src, d)
	f := frameOf(v, src)
	for i := 0; i < len(label); i += BoxFields {
		b := BoxOf(label[i:])
		if b.Class != NoBox {
			b = f.move(b, w, h, mirrored)
		}
		b.Put(dst[i:])
	}
}

// move converts a box from pixels of the picture to pixels of a result.
func (f Frame) move(b Box, width, height int, mirrored bool) Box {
	x1, x2 := float64(float64(b.Corners[0])*f.scaleX)-f.x, float64(float64(b.Corners[2])*f.scaleX)-f.x
	y1, y2 := float64(float64(b.Corners[1])*f.scaleY)-f.y, float64(float64(b.Corners[3])*f.scaleY)-f.y
	if mirrored {
		x1, x2 = float64(width)-x2, float64(width)-x1
	}
	area := float64((x2 - x1) * (y2 - y1))
	x1, x2 = min(max(x1, 0), float64(width)), min(max(x2, 0), float64(width))
	y1, y2 = min(max(y1, 0), float64(height)), min(max(y2, 0), float64(height))
	b.Corners = [4]float32{float32(x1), float32(y1), float32(x2), float32(y2)}
	switch left := float64((x2 - x1) * (y2 - y1)); {
	case !(left > 0):
		return Box{Class: NoBox}
	case b.Class >= 0 && left < float64(area/4):
		b.Class = -2 - b.Class
	}
	return b
}

// checkBoxes returns an error for an augmentation that moves pixels but not boxes.
func checkBoxes(a augmentation.Augmentation) error {
	name := a.LeavingBoxes()
	if name == "" {
		return nil
	}
	if a.Mixes() {
		return problem.Advise("use blend, the mixup of YOLOX",
			"augmentation %s mixes labels of classes, not boxes", name)
	}
	return problem.Advise("use segment, or mosaic, blend, flip, crop, jitter and erase",
		"augmentation %s does not move boxes", name)
}

// boxLabel returns an error if a label of a source with boxes does not have the form of boxes.
func (l *Loader) boxLabel(label []int32, i int) error {
	if most := l.info.LabelShape[0]; len(label) != most*BoxFields {
		return fmt.Errorf("%s: a label of %s, want %d boxes", l.src.Name(i),
			problem.Plural(len(label), "element"), most)
	}
	return nil
}
