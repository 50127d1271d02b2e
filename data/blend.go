package data

import (
	"github.com/bnctl/bnctl/data/augmentation"
	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/tensor"
)

// blend returns the average of two pictures of h x w pixels, rounded down, with the boxes of both. scaling
// is the transform that has scaled the first picture. If less than a quarter of an object of the other
// picture remains visible, the object is ignored.
func (t Transform) blend(m augmentation.Blend, scaling Transform, h, w int, first, other boxed) boxed {
	channels := first.picture.Shape[2]
	out, src := images.NewPlane(h, w, channels), planeOf(first.picture, channels)
	s := scaling.scaling()
	s.Fit(out, src)
	both := boxed{picture: tensor.Tensor{DType: tensor.U8, Shape: []int{h, w, channels}, Bytes: out.Pix}}
	both.add(first.label, frameOf(s.Whole(out, src), src), h, w, false)

	src, s = planeOf(other.picture, channels), t.scaling()
	width, height := s.Size(out, src)
	v := images.View{W: scaledSide(width, m.Scale), H: scaledSide(height, m.Scale)}
	v.X, v.Y = int(float64(m.Left*float64(max(v.W-w, 0)))), int(float64(m.Top*float64(max(v.H-h, 0))))
	second := images.NewPlane(h, w, channels)
	s.Draw(second, src, v)
	for y := range h {
		a, b := out.Row(y), second.Row(y)
		for x := range w {
			from := x
			if m.Mirrored {
				from = w - 1 - x
			}
			for c := range channels {
				a[x*channels+c] = byte((int(a[x*channels+c]) + int(b[from*channels+c])) / 2)
			}
		}
	}
	both.add(other.label, frameOf(v, src), h, w, m.Mirrored)
	return both
}

// add appends the boxes of a label. They are converted from pixels of their picture to pixels of the result.
func (s *boxed) add(label []int32, f Frame, h, w int, mirrored bool) {
	for i := 0; i < len(label); i += BoxFields {
		b := BoxOf(label[i:])
		if b.Class != NoBox {
			b = f.move(b, w, h, mirrored)
		}
		s.label = append(s.label, make([]int32, BoxFields)...)
		b.Put(s.label[len(s.label)-BoxFields:])
	}
}
