package data

import (
	"fmt"

	"github.com/bnctl/bnctl/data/augmentation"
	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/tensor"
)

// MostBoxes returns the number of boxes that the label of a transformed sample can hold, in a source
// with Info.Boxes. This includes the boxes of all pictures that a mosaic and a blend combine.
func MostBoxes(info Info, a augmentation.Augmentation) int {
	pictures := 1
	if a.Joins() {
		pictures = augmentation.JoinedSamples
	}
	if a.Blends() {
		pictures++
	}
	return info.LabelShape[0] * pictures
}

// boxed is a picture with its label, which has boxes.
type boxed struct {
	picture tensor.Tensor
	label   []int32
}

// boxed reads a sample that has boxes.
func (l *Loader) boxed(i int) (s boxed, err error) {
	if s.picture, err = l.src.Sample(l.ctx, i); err != nil {
		return s, err
	}
	if s.label, err = l.src.Label(l.ctx, i); err != nil {
		return s, err
	}
	return s, l.boxLabel(s.label, i)
}

// fillBoxes makes one row of a batch with boxes and its label or, if the row is not wanted, only its label.
func (l *Loader) fillBoxes(b *Batch, row int, wanted bool) error {
	i, d, t := int(b.samples[row]), l.draws.Draws(uint32(b.Epoch), uint64(b.occurrence(row))), l.plan.Transform
	s, err := l.boxed(i)
	if err != nil {
		return err
	}
	if m, ok := t.Augment.DrawMosaic(l.info.Len, l.shape[0], l.shape[1], &d); ok {
		all := []boxed{s}
		for _, other := range m.Others {
			if s, err = l.boxed(other); err != nil {
				return err
			}
			all = append(all, s)
		}
		s, t.Resize = t.join(m, l.shape[0], l.shape[1], all), 0
	}
	if m, ok := t.Augment.DrawBlend(l.info.Len, &d); ok {
		other, err := l.boxed(m.Other)
		if err != nil {
			return err
		}
		s, t.Resize = l.plan.Transform.blend(m, t, l.shape[0], l.shape[1], s, other), 0
	}
	label := b.labels[row*b.perLabel : (row+1)*b.perLabel]
	moved := d
	t.applyBoxes(label, s.label, l.shape[0], l.shape[1], s.picture, &moved)
	for at := len(s.label); at < len(label); at += BoxFields {
		Box{Class: NoBox}.Put(label[at:])
	}
	if wanted {
		t.Apply(b.row(row), s.picture, &d)
	}
	return nil
}

// join returns the mosaic of four pictures as a picture of h x w pixels. Boxes are cut where their pictures
// end. If less than a quarter of an object remains, the object is ignored.
func (t Transform) join(m augmentation.Mosaic, h, w int, pictures []boxed) boxed {
	channels := pictures[0].picture.Shape[2]
	joined := boxed{picture: tensor.New(tensor.U8, h, w, channels)}
	out, s := images.Plane{H: h, W: w, C: channels, Pix: joined.picture.Bytes}, t.scaling()
	for k, of := range pictures {
		src := planeOf(of.picture, channels)
		at := images.Box{W: m.X, H: m.Y}
		width, height := s.Size(out, src)
		v := images.View{W: scaledSide(width, m.Scales[k]), H: scaledSide(height, m.Scales[k])}
		if v.X = v.W - m.X; k%2 == 1 {
			v.X, at.X, at.W = 0, m.X, w-m.X
		}
		if v.Y = v.H - m.Y; k >= 2 {
			v.Y, at.Y, at.H = 0, m.Y, h-m.Y
		}
		if at.W > 0 && at.H > 0 {
			quarter := images.NewPlane(at.H, at.W, channels)
			s.Draw(quarter, src, v)
			for y := range at.H {
				copy(out.Row(at.Y + y)[at.X*channels:], quarter.Row(y))
			}
		}
		f := frameOf(v, src)
		for i := 0; i < len(of.label); i += BoxFields {
			joined.label = append(joined.label, make([]int32, BoxFields)...)
			b := BoxOf(of.label[i:])
			if b.Class != NoBox {
				b = f.move(b, at.W, at.H, false)
			}
			for j := range b.Corners {
				b.Corners[j] += float32([]int{at.X, at.Y}[j%2])
			}
			b.Put(joined.label[len(joined.label)-BoxFields:])
		}
	}
	return joined
}

func scaledSide(side int, factor float64) int { return max(1, int(float64(float64(side)*factor)+0.5)) }

// planeOf returns a picture as a plane with the given number of channels.
func planeOf(picture tensor.Tensor, channels int) images.Plane {
	p := images.Plane{H: picture.Shape[0], W: picture.Shape[1], C: picture.Shape[2], Pix: picture.Bytes}
	if p.C == channels {
		return p
	}
	out := images.NewPlane(p.H, p.W, channels)
	images.Convert(out, p)
	return out
}

// checkMosaic returns an error for a mosaic or a blend if the samples have no boxes.
func checkMosaic(a augmentation.Augmentation, info Info) error {
	if a.Blends() && !info.Boxes {
		return fmt.Errorf("augmentation blend adds pictures with boxes, and %s has none", info.Kind)
	}
	if a.Joins() && !info.Boxes {
		return fmt.Errorf("augmentation mosaic joins pictures with boxes, and %s has none", info.Kind)
	}
	return nil
}
