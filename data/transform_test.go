package data

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/data/augmentation"
	"github.com/bnctl/bnctl/tensor"
)

func TestTransformShape(t *testing.T) {
	grey := Info{DType: tensor.U8, Shape: []int{28, 28, 1}}
	mixed := Info{DType: tensor.U8}
	array := Info{DType: tensor.F32, Shape: []int{3, 8, 8}}
	for _, c := range []struct {
		name      string
		transform Transform
		info      Info
		want      []int
	}{
		{"as it is", Transform{}, grey, []int{28, 28, 1}},
		{"to RGB", Transform{Channels: 3}, grey, []int{28, 28, 3}},
		{"size", Transform{Height: 32, Width: 30}, grey, []int{32, 30, 1}},
		{"several sizes", Transform{Height: 224, Width: 224, Resize: 256}, mixed, []int{224, 224, 3}},
		{"array", Transform{Height: 224, Width: 224}, array, []int{3, 8, 8}},
	} {
		got, err := c.transform.Shape(c.info)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v (%v), want %v", c.name, got, err, c.want)
		}
	}
	for _, c := range []struct {
		name      string
		transform Transform
		info      Info
		want      string
	}{
		{"several sizes", Transform{}, mixed, "result size is needed"},
		{"array", Transform{Augment: augmentation.CIFAR()}, array, "f32[3,8,8]"},
		{"one side", Transform{Height: 3}, grey, "3 x 0"},
		{"negative", Transform{Height: -3, Width: -3}, grey, "not valid"},
		{"channels", Transform{Channels: 4}, grey, "not 4"},
		{"resize", Transform{Resize: 20}, grey, "does not cover"},
	} {
		_, err := c.transform.Shape(c.info)
		t.Run(c.name, func(t *testing.T) { wantError(t, err, c.want) })
	}
}

func TestParseAugmentation(t *testing.T) {
	for name, want := range map[string]augmentation.Augmentation{
		"none": {}, "cifar": augmentation.CIFAR(), "imagenet": augmentation.ImageNet(),
		"segment": augmentation.Segment(),
	} {
		got, err := augmentation.Parse(name)
		if !reflect.DeepEqual(got, want) || got.String() != name || err != nil {
			t.Errorf("Parse(%q) = %q, %v", name, got, err)
		}
	}
	_, err := augmentation.Parse("")
	wantError(t, err, "none, cifar, imagenet and segment")
}

// apply returns the transformed picture.
func apply(t *testing.T, transform Transform, picture tensor.Tensor, d *tensor.Draws) tensor.Tensor {
	t.Helper()
	shape, err := transform.Shape(Info{DType: tensor.U8, Shape: picture.Shape})
	if err != nil {
		t.Fatal(err)
	}
	out := tensor.New(tensor.U8, shape...)
	transform.Apply(out, picture, d)
	return out
}

func TestTransformCropsWithoutScaling(t *testing.T) {
	src := synthetic(11, 8)
	got := apply(t, Transform{Height: 8, Width: 4}, src, nil)
	for y := range 8 {
		// There are seven excess pixels, and round-half-even(7/2) = 4. So the crop begins at pixel 4.
		if want := src.Bytes[3*(y*11+4) : 3*(y*11+8)]; !bytes.Equal(got.Bytes[12*y:12*y+12], want) {
			t.Errorf("row %d = %d, want %d", y, got.Bytes[12*y:12*y+12], want)
		}
	}
}

func TestTransformChannels(t *testing.T) {
	src := tensor.Of([]byte{10, 20, 30}, 1, 1, 3)
	for _, c := range []struct {
		transform Transform
		src       tensor.Tensor
		want      []byte
	}{
		{Transform{BGR: true}, src, []byte{30, 20, 10}},
		{Transform{Channels: 1}, src, []byte{18}}, // 0.299*10 + 0.587*20 + 0.114*30 = 18.15
		{Transform{Channels: 3}, tensor.Of([]byte{7}, 1, 1, 1), []byte{7, 7, 7}},
		{Transform{Channels: 1, BGR: true}, tensor.Of([]byte{7}, 1, 1, 1), []byte{7}},
	} {
		if got := apply(t, c.transform, c.src, nil); !bytes.Equal(got.Bytes, c.want) {
			t.Errorf("%+v of %d = %d, want %d", c.transform, c.src.Bytes, got.Bytes, c.want)
		}
	}
	if !bytes.Equal(src.Bytes, []byte{10, 20, 30}) {
		t.Errorf("the source is now %d", src.Bytes)
	}
}

// shifted returns the expected result of pad-4 crop and flip, for one outcome of the draws.
func shifted(src tensor.Tensor, dx, dy int, flip bool) []byte {
	h, w := src.Shape[0], src.Shape[1]
	out := make([]byte, len(src.Bytes))
	for y := range h {
		for x := range w {
			fx, fy := x+dx, y+dy
			if flip {
				fx = w - 1 - x + dx
			}
			if 0 <= fx && fx < w && 0 <= fy && fy < h {
				copy(out[3*(y*w+x):3*(y*w+x)+3], src.Bytes[3*(fy*w+fx):])
			}
		}
	}
	return out
}

func TestCIFARAugment(t *testing.T) {
	src := synthetic(9, 6)
	outcomes := map[string][3]int{}
	for dx := -4; dx <= 4; dx++ {
		for dy := -4; dy <= 4; dy++ {
			for flip := range 2 {
				outcomes[string(shifted(src, dx, dy, flip == 1))] = [3]int{dx, dy, flip}
			}
		}
	}
	const n = 162 * 60
	seen := map[[3]int]int{}
	p := tensor.NewPhilox(1, tensor.StreamAugment)
	for i := range n {
		d := p.Draws(0, uint64(i))
		got := apply(t, Transform{Augment: augmentation.CIFAR()}, src, &d)
		outcome, ok := outcomes[string(got.Bytes)]
		if !ok {
			t.Fatalf("sample %d: %d is no shift of the picture", i, got.Bytes)
		}
		seen[outcome]++
	}
	if len(seen) != 162 {
		t.Errorf("%d of 162 outcomes seen", len(seen))
	}
	for outcome, count := range seen {
		if math.Abs(float64(count)-60) > 5*math.Sqrt(60) {
			t.Errorf("outcome %v was drawn %d times, want about 60", outcome, count)
		}
	}
}

func TestCIFARAugmentOfSmallPictures(t *testing.T) {
	for i := range 50 {
		d := tensor.NewPhilox(2, tensor.StreamAugment).Draws(0, uint64(i))
		apply(t, Transform{Augment: augmentation.CIFAR()}, synthetic(2, 3), &d)
	}
}
