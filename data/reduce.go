package data

import (
	"context"

	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/tensor"
)

// Decode writes the picture in a file to dst, transformed as Apply does it, bit for bit. It does not store
// the picture in RGB: it scales rows while they are decoded. If exif is set, the picture is turned by the
// file's EXIF orientation. t must not have an augmentation.
func (t Transform) Decode(ctx context.Context, dst tensor.Tensor, file []byte, exif bool) error {
	f, err := images.Open(ctx, file, exif)
	if err != nil {
		return err
	}
	h, w := f.Size()
	t.write(dst, tensor.Tensor{DType: tensor.U8, Shape: []int{h, w, 3}}, func(out, src images.Plane) {
		err = t.scaling().Decode(ctx, f, out, src)
	})
	return err
}

// Memory returns the number of bytes that Decode needs, without the file, for a result of this height and
// width. It is an error if the size of the picture cannot be read from the file.
func (t Transform) Memory(ctx context.Context, file []byte, exif bool, height, width int) (int64, error) {
	f, err := images.Open(ctx, file, exif)
	if err != nil {
		return 0, err
	}
	h, w := f.Size()
	out := images.Plane{H: height, W: width, C: 3}
	r := t.scaling().Reduction(out, images.Plane{H: h, W: w, C: 3})
	decoding, err := f.Memory(ctx)
	if t.Letterbox { // only the part of the result that shows the picture
		decoding += int64(height) * int64(width) * int64(out.C)
	}
	return decoding + r.Memory(f), err
}

// transformer is a source that can transform a picture without storing all of its pixels.
type transformer interface {
	// transformed writes sample i to dst, transformed by t, which has no augmentation.
	transformed(ctx context.Context, i int, t Transform, dst tensor.Tensor) error
}

// transformSample calls the method transformed of src if src is a transformer, or a part of one. Otherwise it
// transforms the sample with Apply.
func transformSample(ctx context.Context, src Source, i int, t Transform, dst tensor.Tensor) error {
	if src, ok := src.(transformer); ok {
		return src.transformed(ctx, i, t, dst)
	}
	picture, err := src.Sample(ctx, i)
	if err == nil {
		t.Apply(dst, picture, nil)
	}
	return err
}

func (j *concatenated) transformed(ctx context.Context, i int, t Transform, dst tensor.Tensor) error {
	src, i := j.locate(i)
	return transformSample(ctx, src, i, t, dst)
}

func (s *subset) transformed(ctx context.Context, i int, t Transform, dst tensor.Tensor) error {
	return transformSample(ctx, s.Source, s.chosen[i], t, dst)
}

func (r *relabelled) transformed(ctx context.Context, i int, t Transform, dst tensor.Tensor) error {
	return transformSample(ctx, r.Source, i, t, dst)
}
