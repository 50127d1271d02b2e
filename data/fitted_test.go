package data

import (
	"testing"

	"github.com/bnctl/bnctl/data/augmentation"
	"github.com/bnctl/bnctl/tensor"
)

// TestInWords: the description states what Transform does.
func TestInWords(t *testing.T) {
	pictures := func(shape ...int) Info { return Info{DType: tensor.U8, Shape: shape} }
	to := func(h, w, c, resize int, a augmentation.Augmentation) Transform {
		return Transform{Height: h, Width: w, Channels: c, Resize: resize, Augment: a}
	}
	none := augmentation.Augmentation{}
	for _, c := range []struct {
		t    Transform
		i    Info
		want string
	}{
		{to(28, 28, 1, 0, none), pictures(28, 28, 1), "pictures of 28x28: as they are"},
		{to(28, 28, 3, 0, none), pictures(28, 28, 1),
			"pictures of 28x28: as they are, grey in three channels"},
		{to(28, 28, 1, 0, none), pictures(),
			"pictures of several sizes: scaled until they cover it (bilinear), " +
				"cut to the middle, made grey"},
		{to(32, 32, 3, 0, none), pictures(64, 64, 3), "pictures of 64x64: scaled (bilinear)"},
		{to(32, 48, 3, 0, augmentation.CIFAR()), pictures(64, 64, 3),
			"pictures of 64x64: scaled until they cover it (bilinear), cut to the middle; " +
				"in training shifted and flipped"},
		{to(224, 224, 3, 256, augmentation.ImageNet()), pictures(3000, 4000, 3),
			"pictures of 3000x4000: the shorter side scaled to 256 (bilinear), cut to the middle; in training random parts, scaled and flipped"},
		{Transform{}, Info{DType: tensor.F32, Shape: []int{3}}, "samples as they are"},
	} {
		if got := c.t.InWords(c.i); got != c.want {
			t.Errorf("%+v of %v: %q, want %q", c.t, c.i.Shape, got, c.want)
		}
	}
}
