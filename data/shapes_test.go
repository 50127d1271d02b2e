package data

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/data/augmentation"
	"github.com/bnctl/bnctl/tensor"
)

// This package computed the hashes on linux/amd64. Every machine must draw the same pixels. If any pixel
// changes, shapesVersion must change.
func TestShapesGolden(t *testing.T) {
	for split, want := range map[Split]string{
		Train: "04dd2af708ce9a19b9fcb16f1277cd81cc311361f0e90e9b8f6cdf5bf4aab857",
		Test:  "c9bd324a42f2d7239d5abe7cbce46229dcf3a3d7523bba2079dcac077d0b6fa7",
	} {
		src := open(t, "shapes:100", Options{Split: split})
		h := sha256.New()
		for i, p := range pixels(t, src, 100) {
			h.Write(p)
			binary.Write(h, binary.LittleEndian, label(t, src, i))
		}
		if got := hex.EncodeToString(h.Sum(nil)); got != want {
			t.Errorf("the first 100 scenes of %s have the hash %s, want %s", split, got, want)
		}
	}
}

// Every class covers enough pixels for a meaningful IoU, the intersection over union.
func TestShapesShowEveryClass(t *testing.T) {
	src := open(t, "shapes:200", Options{})
	count := make([]int, len(shapeClasses))
	for i := range 200 {
		for _, class := range label(t, src, i) {
			count[class]++
		}
	}
	for class, n := range count {
		if share := float64(n) / (200 * shapesSide * shapesSide); share < 0.03 || share > 0.7 {
			t.Errorf("%s covers %.1f %% of the pixels", shapeClasses[class], 100*share)
		}
	}
}

// Without noise, the pixels that a mask gives to one surface have at most two colours. So picture and mask
// agree at every pixel.
func TestShapesPictureIsItsMask(t *testing.T) {
	x := open(t, "shapes:20", Options{}).(*shapes)
	for i := range 20 {
		d := x.philox.Draws(0, uint64(i))
		s := drawScene(&d)
		s.noise = 0
		pix := make([]byte, 3*shapesSide*shapesSide)
		s.paint(pix, &d)
		mask := label(t, x, i)
		for at, class := range mask {
			f := s.top(at%shapesSide, at/shapesSide)
			a, b := f.texture.colours[0], f.texture.colours[1]
			for c := range 3 {
				v := int(pix[3*at+c])
				if v != int(a[c])*s.light[c]/256 && v != int(b[c])*s.light[c]/256 || f.class != class {
					t.Fatalf("scene %d, pixel %d: %d, class %d, the surface is of class %d", i, at, v, class, f.class)
				}
			}
		}
	}
}

// halves returns a picture, black on the left and white on the right, and its mask.
func halves(h, w int) (tensor.Tensor, []int32) {
	p, mask := tensor.New(tensor.U8, h, w, 1), make([]int32, h*w)
	for at := range mask {
		if at%w >= w/2 {
			p.Bytes[at], mask[at] = 255, 1
		}
	}
	return p, mask
}

// A mask is transformed like its picture, by every transform.
func TestMasksFollowTheirPictures(t *testing.T) {
	for _, augment := range []augmentation.Augmentation{
		{}, augmentation.CIFAR(), augmentation.ImageNet(), augmentation.Segment(),
	} {
		for _, size := range [][2]int{{32, 32}, {24, 40}, {48, 20}} {
			tr := Transform{Height: 32, Width: 32, Augment: augment}
			picture, mask := halves(size[0], size[1])
			follows(t, tr, picture, mask)
		}
	}
}

// follows makes 200 random transforms of a picture and its mask, and compares the results. Pixels on the
// border between the halves may be mixed. Outside of the picture the mask is -1 and the picture is black.
func follows(t *testing.T, tr Transform, picture tensor.Tensor, mask []int32) {
	t.Helper()
	philox := tensor.NewPhilox(7, tensor.StreamAugment)
	seen := map[int32]int{}
	for n := range 200 {
		d := philox.Draws(0, uint64(n))
		again := d
		dst, label := tensor.New(tensor.U8, 32, 32, 1), make([]int32, 32*32)
		tr.Apply(dst, picture, &d)
		if err := tr.ApplyMask(label, mask, 32, 32, picture, &again); err != nil {
			t.Fatal(err)
		}
		wrong := 0
		bright := int(slices.Max(dst.Bytes))
		for at, class := range label {
			seen[class]++
			if is := 2*int(dst.Bytes[at]) > bright && bright > 100; is != (class == 1) && class != -1 {
				wrong++
			}
		}
		if wrong > 32*3 { // more than a border of 32 pixels that is three pixels thick
			t.Fatalf("%+v: %d of 1024 pixels of picture and mask differ", tr, wrong)
		}
	}
	if seen[0] == 0 || seen[1] == 0 {
		t.Errorf("%+v: labels %v", tr, seen)
	}
	pads := tr.Augment.String() == "cifar" || tr.Augment.String() == "segment"
	if padded := seen[-1] > 0; padded != pads {
		t.Errorf("%+v: %d pixels lie beyond the picture", tr, seen[-1])
	}
}

func TestMaskOfAnotherSize(t *testing.T) {
	picture, mask := halves(8, 8)
	err := Transform{}.ApplyMask(make([]int32, 64), mask[:63], 8, 8, picture, nil)
	if err == nil {
		t.Error("a mask of 63 pixels for 64 was taken")
	}
}
