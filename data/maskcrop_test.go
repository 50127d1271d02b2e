package data

import (
	"slices"
	"testing"

	"github.com/bnctl/bnctl/data/augmentation"
	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/tensor"
)

// A crop that is larger than the picture contains all of it. Pixels outside of the picture have no class, and
// all have the same colour: they are black, before the operations that change colours.
func TestCropLargerThanThePicture(t *testing.T) {
	const side = 16
	shape := Transform{Height: side, Width: side, Augment: augmentation.Segment()}
	picture := tensor.New(tensor.U8, 3, 5, 3)
	label := make([]int32, 3*5)
	for i := range label {
		label[i] = int32(i % 4)
		copy(picture.Bytes[3*i:], []byte{200, byte(10 * i), 90})
	}
	philox, smaller := tensor.NewPhilox(1, tensor.StreamAugment), 0
	for i := range 50 {
		d := philox.Draws(0, uint64(i))
		at, again := d, d
		crop, source := images.Plane{H: side, W: side}, images.Plane{H: 3, W: 5}
		v := augmentation.DrawView(images.Scaling{}, crop, source, &again)
		mask, dst := make([]int32, side*side), tensor.New(tensor.U8, side, side, 3)
		if err := shape.ApplyMask(mask, label, side, side, picture, &d); err != nil {
			t.Fatal(err)
		}
		shape.Apply(dst, picture, &at)
		if v.W >= side && v.H >= side {
			if slices.Contains(mask, -1) {
				t.Errorf("%+v covers the crop, and its mask has holes", v)
			}
			continue
		}
		smaller++
		beyond, shown := [3]byte{}, 0
		for p, class := range mask {
			pixel := [3]byte(dst.Bytes[3*p:])
			switch {
			case class != -1:
				shown++
			case beyond == [3]byte{}:
				beyond = pixel
			case pixel != beyond:
				t.Fatalf("%+v: pixels beyond the picture are %v and %v", v, beyond, pixel)
			}
		}
		if want := min(v.W, side) * min(v.H, side); shown != want {
			t.Errorf("%+v: %d pixels count, want %d", v, shown, want)
		}
	}
	if smaller < 5 {
		t.Errorf("%d of 50 crops are larger than the picture", smaller)
	}
}

// Classes of a table keep their names in every part of the data, even if no mask contains them.
func TestAbsentClasses(t *testing.T) {
	dir := photos(t, file{"a.png", maskOf(t, 0, 2)}, file{"b.png", maskOf(t, 2)})
	table := write(t, "table.txt", []byte("0 road\n1 sky\n2 tree\n3 car\n"))
	if i := open(t, masksIn(dir)+","+table, Options{}).Info(); !slices.Equal(i.Absent, []string{"sky", "car"}) {
		t.Errorf("absent: %v", i.Absent)
	}
	if i := open(t, masksIn(dir), Options{}).Info(); !slices.Equal(i.Absent, []string{"1"}) {
		t.Errorf("absent of numbers: %v", i.Absent)
	}
	if i := open(t, "shapes:3", Options{}).Info(); i.Absent != nil {
		t.Errorf("absent of shapes: %v", i.Absent)
	}
}
