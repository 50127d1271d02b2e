package format

import (
	"image"
	"image/png"
	"io"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/internal/regular"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/tensor"
)

// mask writes the mask of an input as a picture file. The pixels are indices, the numbers of the classes, and
// have the colours of PASCAL VOC's masks.
func (f *files) mask(input string, scores tensor.Tensor) error {
	classes, err := predict.PixelClasses(f.output, scores)
	if err != nil {
		return err
	}
	mask := image.NewPaletted(image.Rect(0, 0, scores.Shape[2], scores.Shape[1]), data.MaskPalette)
	mask.Pix = classes
	return f.png(input, mask)
}

// overlay writes a picture, u8 [H,W,1 or 3], with its mask drawn over it.
func (f *files) overlay(input string, scores, picture tensor.Tensor) error {
	classes, err := predict.PixelClasses(f.output, scores)
	if err != nil {
		return err
	}
	labels := make([]int32, len(classes))
	for k, class := range classes {
		labels[k] = int32(class)
	}
	overlaid := data.Overlay(picture, labels)
	out := image.NewRGBA(image.Rect(0, 0, scores.Shape[2], scores.Shape[1]))
	for k := range classes {
		copy(out.Pix[4*k:], overlaid.Bytes[3*k:3*k+3])
		out.Pix[4*k+3] = 255
	}
	return f.png(input, out)
}

func (f *files) png(input string, m image.Image) error {
	return regular.WriteFile(f.path(input, ".png"), 0o666, func(w io.Writer) error { return png.Encode(w, m) })
}

// probabilities writes the probabilities of the classes of each pixel, f32 [C,H,W].
func (f *files) probabilities(input string, p tensor.Tensor) error {
	return regular.WriteFile(f.path(input, ".npy"), 0o666,
		func(w io.Writer) error { return data.WriteNPY(w, p) })
}
