package data

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"math"
	"os"
	"testing"

	"github.com/bnctl/bnctl/data/augmentation"
	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/tensor"
)

// brightPart returns the borders of the bright pixels of a picture, and whether there are any.
func brightPart(p tensor.Tensor) (c [4]float64, found bool) {
	h, w := p.Shape[0], p.Shape[1]
	c = [4]float64{float64(w), float64(h), 0, 0}
	for y := range h {
		for x := range w {
			if p.Bytes[3*(y*w+x)+1] > 180 {
				c = [4]float64{min(c[0], float64(x)), min(c[1], float64(y)), max(c[2], float64(x+1)),
					max(c[3], float64(y+1))}
				found = true
			}
		}
	}
	return c, found
}

// Boxes move with their pixels: after each augmentation, a bright rectangle is still inside its box.
func TestBoxesMoveWithPixels(t *testing.T) {
	picture := tensor.New(tensor.U8, 60, 90, 3)
	for y := 15; y < 45; y++ {
		for i := 3 * (y*90 + 20); i < 3*(y*90+50); i++ {
			picture.Bytes[i] = 255
		}
	}
	label := make([]int32, 2*BoxFields)
	Box{Corners: [4]float32{20, 15, 50, 45}, Class: 2}.Put(label)
	Box{Class: NoBox}.Put(label[BoxFields:])
	generator := tensor.NewPhilox(7, tensor.StreamAugment)
	for _, augment := range []string{"none", "flip:1", "flip", "crop:12", "flip crop:12", "crop:12 flip:1", "segment"} {
		parsed := augmentation.MustParse(augment)
		for _, letterbox := range []bool{true, false} {
			transform := Transform{Height: 64, Width: 64, Letterbox: letterbox, Augment: parsed}
			for sample := range uint64(20) {
				out, moved := tensor.New(tensor.U8, 64, 64, 3), make([]int32, len(label))
				d := generator.Draws(3, sample)
				transform.applyBoxes(moved, label, 64, 64, picture, &d)
				d = generator.Draws(3, sample)
				transform.Apply(out, picture, &d)
				if !letterbox && augment == "segment" {
					continue // the operation changes colours, so that a larger part may be bright
				}
				checkBox(t, augment, out, BoxOf(moved))
				if other := BoxOf(moved[BoxFields:]); other.Class != NoBox {
					t.Fatalf("%s: no box became %+v", augment, other)
				}
			}
		}
	}
}

func checkBox(t *testing.T, augment string, out tensor.Tensor, b Box) {
	t.Helper()
	want, found := brightPart(out)
	if augment == "segment" && !found { // this preset changes colours
		return
	}
	if b.Class == NoBox {
		if found {
			t.Errorf("%s: the box is gone, and bright pixels are in %v", augment, want)
		}
		return
	}
	if b.Class != 2 && b.Class != -4 {
		t.Fatalf("%s: class %d", augment, b.Class)
	}
	for i, v := range b.Corners {
		if math.Abs(float64(v)-want[i]) > 2 {
			t.Errorf("%s: the box is %v, and bright pixels are in %v", augment, b.Corners, want)
			return
		}
	}
}

// A picture in a letterbox has the size that YOLOX's preproc gives it: int(side * min(H/h, W/w)).
func TestLetterbox(t *testing.T) {
	for _, c := range []struct{ h, w, height, width, bottom, right int }{
		{480, 640, 416, 416, 312, 416}, {640, 480, 416, 416, 416, 312}, {100, 30, 64, 32, 64, 19},
		{1, 1000, 32, 32, 1, 32}, {10, 10, 32, 64, 32, 32},
	} {
		transform := Transform{Height: c.height, Width: c.width, Letterbox: true}
		picture := tensor.New(tensor.U8, c.h, c.w, 3)
		for i := range picture.Bytes {
			picture.Bytes[i] = 200
		}
		out := tensor.New(tensor.U8, c.height, c.width, 3)
		transform.Apply(out, picture, nil)
		for i, v := range out.Bytes {
			x, y := i/3%c.width, i/3/c.width
			if inside := x < c.right && y < c.bottom; inside && v != 200 || !inside && v != 114 {
				t.Fatalf("%+v: pixel %d, %d is %d", c, x, y, v)
			}
		}
		f := transform.Frame(c.h, c.w)
		got := f.Undo([4]float32{0, 0, float32(c.right), float32(c.bottom)})
		if math.Abs(got[2]-float64(c.w)) > 1e-9 ||
			math.Abs(got[3]-float64(c.h)) > 1e-9 {
			t.Errorf("%+v: the corner comes back as %v", c, got)
		}
	}
}

// TestBoxesAsInTorchvision: boxes move like the boxes of torchvision 0.21 with the same picture
// (testdata/boxes.py). A box that has no area left is removed. If less than a quarter of a box is left, it is
// ignored; torchvision has no ignored boxes.
func TestBoxesAsInTorchvision(t *testing.T) {
	text, err := os.ReadFile("testdata/boxes.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Picture, Size, At, Result [2]int // height and width, or top and left; At is the position of the result
		Mirrored                  bool
		Boxes, Moved              [][4]float32
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	var kept, ignored, removed int
	for i, c := range cases {
		v := images.View{W: c.Size[1], H: c.Size[0], X: c.At[1], Y: c.At[0]}
		f := frameOf(v, images.Plane{H: c.Picture[0], W: c.Picture[1]})
		for k, corners := range c.Boxes {
			want := c.Moved[k]
			got := f.move(Box{corners, 3}, c.Result[1], c.Result[0], c.Mirrored)
			switch got.Class {
			case NoBox:
				if removed++; want[2]-want[0] > 1e-3 && want[3]-want[1] > 1e-3 {
					t.Errorf("case %d, box %d: removed, want %v", i, k, want)
				}
				continue
			case -2 - 3:
				ignored++
			case 3:
				kept++
			default:
				t.Errorf("case %d, box %d: class %d", i, k, got.Class)
			}
			for a, x := range got.Corners {
				if math.Abs(float64(x-want[a])) > 2e-3 {
					t.Errorf("case %d, box %d: %v, want %v", i, k, got.Corners, want)
					break
				}
			}
		}
	}
	if kept < 60 || ignored < 5 || removed < 10 {
		t.Errorf("%d boxes kept, %d ignored, %d removed", kept, ignored, removed)
	}
}

func TestAugmentationsWithoutBoxes(t *testing.T) {
	info := Info{Kind: "voc", DType: tensor.U8, Labelled: true, Boxes: true, LabelShape: []int{3, 5}}
	for text, fits := range map[string]bool{"none": true, "segment": true, "flip jitter": true, "crop:4 erase": true,
		"cifar": false, "imagenet": false, "rotate": false, "resizedcrop": false, "randaugment": false,
		"trivial": false, "flip mixup": false, "cutmix": false} {
		a, err := augmentation.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := CheckAugment(a, info); (err == nil) != fits {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Scaling a picture into a letterbox while its rows are decoded gives the same pixels as scaling the decoded
// picture.
func TestLetterboxOfAFile(t *testing.T) {
	for _, size := range [][2]int{{53, 80}, {80, 53}, {30, 30}, {416, 300}} {
		picture := image.NewRGBA(image.Rect(0, 0, size[0], size[1]))
		for i := range picture.Pix {
			picture.Pix[i] = byte(i * i / 7)
			if i%4 == 3 {
				picture.Pix[i] = 255
			}
		}
		var file bytes.Buffer
		if err := png.Encode(&file, picture); err != nil {
			t.Fatal(err)
		}
		whole, err := images.Decode(t.Context(), file.Bytes(), true)
		if err != nil {
			t.Fatal(err)
		}
		transform := Transform{Height: 64, Width: 96, Letterbox: true}
		want, got := tensor.New(tensor.U8, 64, 96, 3), tensor.New(tensor.U8, 64, 96, 3)
		transform.Apply(want, whole, nil)
		if err := transform.Decode(t.Context(), got, file.Bytes(), true); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes, want.Bytes) {
			t.Errorf("%v: the file gives other pixels than the picture", size)
		}
	}
}
