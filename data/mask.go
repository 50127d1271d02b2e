package data

import (
	"errors"
	"fmt"

	"github.com/bnctl/bnctl/data/augmentation"
	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// MaskClasses is the largest number of classes that masks may have.
const MaskClasses = 255

// labelShape returns the shape of the label of a transformed sample. If labels are masks, this is the height
// and width of the transformed picture. Otherwise it is the label shape of the source. shape is the result of
// Transform.Shape.
func labelShape(info Info, shape []int) []int {
	if info.Masks {
		return shape[:2]
	}
	return info.LabelShape
}

// CheckAugment returns an error if an augmentation would move pixels away from their labels, so that it
// cannot be used with the labels of a source.
func CheckAugment(a augmentation.Augmentation, info Info) error {
	if a.CutsParts() && (info.Masks || len(info.LabelShape) > 1) {
		return errors.New("augmentation cutmix puts parts of pictures into others, and labels of pixels do not " +
			"follow; there is mixup for them")
	}
	if err := checkMosaic(a, info); err != nil {
		return err
	}
	if info.Boxes {
		return checkBoxes(a)
	}
	if name := a.Moving(); name != "" && !info.Masks && len(info.LabelShape) > 1 {
		return fmt.Errorf("augmentation %s moves pixels, and labels of %s stay where they are; masks move along",
			name, tensor.Describe(tensor.I32, info.LabelShape))
	}
	return nil
}

// ApplyMask writes the mask of a picture to dst, which has h x w labels, the size that Transform.Shape
// returns. It scales to the nearest pixel, and crops and turns the mask as Apply does with the picture, with
// the same draws. Labels outside of the picture become -1, and labels of -1 stay -1. It is an error if label
// is not a mask of the picture.
func (t Transform) ApplyMask(dst, label []int32, h, w int, picture tensor.Tensor, d *tensor.Draws) error {
	src := images.NewPlane(picture.Shape[0], picture.Shape[1], 1)
	if len(label) != src.H*src.W {
		return fmt.Errorf("a mask of %s for a picture of %d x %d", problem.Plural(len(label), "pixel"),
			src.W, src.H)
	}
	for i, class := range label {
		src.Pix[i] = byte(class) // -1 becomes 255
	}
	out := images.NewPlane(h, w, 1)
	t.Augment.ApplyMask(t.scaling(), out, src, d)
	for i, class := range out.Pix {
		if dst[i] = int32(class); class == augmentation.Ignored {
			dst[i] = -1
		}
	}
	return nil
}
