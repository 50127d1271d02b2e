package data

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/problem"
)

// maskOf returns a mask of 3 x 2 pixels as PNG. The pixels are indices into a palette.
func maskOf(t *testing.T, pix ...byte) []byte {
	t.Helper()
	m := image.NewPaletted(image.Rect(0, 0, 3, 2), MaskPalette)
	copy(m.Pix, pix)
	return encoded(t, m)
}

func encoded(t *testing.T, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// photos writes a folder of two pictures of 3 x 2 pixels, and next to it a folder of masks.
func photos(t *testing.T, masks ...file) string {
	t.Helper()
	files := []file{{"images/a.png", pngOf(t, 3, 2, 10)}, {"images/b.png", pngOf(t, 3, 2, 200)}}
	for _, m := range masks {
		files = append(files, file{"masks/" + m.name, m.content})
	}
	return unpack(t, files)
}

func masksIn(dir string) string { return "masks:" + dir + "/images," + dir + "/masks" }

func TestMasks(t *testing.T) {
	dir := photos(t, file{"a.png", maskOf(t, 0, 1, 2, 255, 1, 1)}, file{"b.png", maskOf(t, 2, 2, 2, 2, 2, 3)})
	src := open(t, masksIn(dir), Options{})
	i := src.Info()
	if i.Len != 2 || !i.Masks || !slices.Equal(i.Classes, []string{"0", "1", "2", "3"}) ||
		!slices.Equal(i.LabelShape, []int{2, 3}) || !slices.Equal(i.Shape, []int{2, 3, 3}) {
		t.Errorf("info %+v", i)
	}
	if got := label(t, src, 0); !slices.Equal(got, []int32{0, 1, 2, -1, 1, 1}) {
		t.Errorf("label %v", got)
	}
	s, err := Describe(context.Background(), src)
	if err != nil || !slices.Equal(s.PerClass, []int{1, 3, 6, 1}) || s.Ignored != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	if grid, err := Grid(t.Context(), src, []int{0, 1}, 2, 3); err != nil || grid.Bounds().Dx() != 12 {
		t.Errorf("grid: %v", err)
	}
}

// The same labels have the same fingerprint, in whatever form the masks store them. Different labels have
// different fingerprints.
func TestMasksFingerprint(t *testing.T) {
	grey := image.NewGray(image.Rect(0, 0, 3, 2))
	copy(grey.Pix, []byte{0, 1, 2, 255, 1, 1})
	fingerprint := func(mask []byte) string {
		dir := photos(t, file{"a_L.png", mask}, file{"b_L.png", maskOf(t, 0)})
		f, err := open(t, masksIn(dir), Options{}).Fingerprint(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	one := fingerprint(maskOf(t, 0, 1, 2, 255, 1, 1))
	if other := fingerprint(encoded(t, grey)); other != one {
		t.Error("the same labels as grey values have another fingerprint")
	}
	if other := fingerprint(maskOf(t, 0, 1, 2, 255, 1, 2)); other == one {
		t.Error("another label has the same fingerprint")
	}
}

// Options define what the pixels of masks mean: the values of classes, ignored values, and tables of values
// or colours.
func TestMaskMeanings(t *testing.T) {
	pix := []byte{0, 255, 7, 255, 0, 0}
	colours := image.NewRGBA(image.Rect(0, 0, 3, 2))
	for at := range 6 {
		colours.Set(at%3, at/3, color.RGBA{byte(at / 3), 5, 9, 255})
	}
	bits := image.NewPaletted(image.Rect(0, 0, 3, 2), color.Palette{color.Black, color.White})
	bits.Pix[1] = 1
	for _, c := range []struct {
		name    string
		mask    []byte
		o       MaskOptions
		table   string
		want    []int32
		classes []string
	}{
		{"values", maskOf(t, pix...), MaskOptions{"0,255", "7"}, "", []int32{0, 1, -1, 1, 0, 0}, []string{"0", "255"}},
		{"ignored", maskOf(t, pix...), MaskOptions{"", "255,7"}, "", []int32{0, -1, -1, -1, 0, 0}, []string{"0", "1"}},
		{"table", maskOf(t, pix...), MaskOptions{}, "# no class\n7 Void\n255 the sky\n\n0 road\n",
			[]int32{1, 0, -1, 0, 1, 1}, []string{"the sky", "road"}},
		{"colours", encoded(t, colours), MaskOptions{}, "0 5 9 up\n1 5 9\tdown\n", []int32{0, 0, 0, 1, 1, 1},
			[]string{"up", "down"}},
		{"colours of a palette", encoded(t, bits), MaskOptions{}, "0 0 0 up\n255 255 255 down\n",
			[]int32{0, 1, 0, 0, 0, 0}, []string{"up", "down"}},
	} {
		dir := photos(t, file{"a.png", c.mask}, file{"b.png", c.mask})
		spec := masksIn(dir)
		if c.table != "" {
			spec += "," + write(t, "table.txt", []byte(c.table))
		}
		src, err := Open(t.Context(), spec, Options{Masks: c.o})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := label(t, src, 1); !slices.Equal(got, c.want) || !slices.Equal(src.Info().Classes, c.classes) {
			t.Errorf("%s: %v of %v, want %v of %v", c.name, got, src.Info().Classes, c.want, c.classes)
		}
		src.Close()
	}
}

func TestMasksBad(t *testing.T) {
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 3, 2)), nil); err != nil {
		t.Fatal(err)
	}
	good, binary := file{"b.png", maskOf(t, 0, 1)}, maskOf(t, 0, 255, 255)
	see := image.NewNRGBA(image.Rect(0, 0, 3, 2))
	for _, c := range []struct {
		name  string
		mask  []byte
		o     MaskOptions
		table string
		wants []string
	}{
		{"size", pngOf(t, 2, 2, 0), MaskOptions{}, "", []string{"member a.png", "mask a.png is of 2 x 2", "3 x 2"}},
		{"class", maskOf(t, 0, 0, 0, 0, 9), MaskOptions{}, "0 x\n1 y\n",
			[]string{"mask a.png: pixel 1, 1 is 9, which is no class: those are 0, 1"}},
		{"value", maskOf(t, 0, 9), MaskOptions{Values: "0,1"}, "", []string{"pixel 1, 0 is 9", "those are 0, 1"}},
		{"many", maskOf(t, 255), MaskOptions{Ignore: "7"}, "", []string{"is 255: at most 255 classes, 0 to 254"}},
		{"colour", encoded(t, opaque()), MaskOptions{}, "0 0 1 x\n0 0 2 y\n",
			[]string{"mask a.png: pixel 0, 0 has the colour 135 175 215, which the table lacks"}},
		{"grey", pngOf(t, 3, 2, 4), MaskOptions{}, "", nil},
		{"alpha", encoded(t, see), MaskOptions{}, "", []string{"alpha channel"}},
		{"16 bits", encoded(t, image.NewGray16(image.Rect(0, 0, 3, 2))), MaskOptions{}, "", []string{"16 bits a pixel"}},
		{"jpeg", photo.Bytes(), MaskOptions{}, "", []string{"a JPEG, whose compression changes pixels", "PNG"}},
		{"no table", encoded(t, opaque()), MaskOptions{}, "", []string{"its pixels are colours", "TABLE"}},
		{"table", good.content, MaskOptions{}, "0 x\n0 y\n", []string{"line 2: 0 stands there twice"}},
		{"names", good.content, MaskOptions{}, "0 x\n1 x\n", []string{"line 2: a second class x"}},
		{"one", good.content, MaskOptions{}, "0 x\n", []string{"1 class; want 2 to 255"}},
		{"word", good.content, MaskOptions{}, "0 0 0 x\n0 0 300 y\n", []string{`line 2: "300"`, "RED GREEN BLUE NAME"}},
		{"twice said", good.content, MaskOptions{Ignore: "255"}, "0 x\n1 y\n", []string{"ignore 255", "table"}},
		{"values", good.content, MaskOptions{Values: "0,256"}, "", []string{"mask-values", "0 to 255"}},
		{"both", good.content, MaskOptions{Values: "0,1", Ignore: "1"}, "", []string{"1 is a class of mask-values 0,1"}},
	} {
		dir := photos(t, file{"a.png", c.mask}, good)
		spec := masksIn(dir)
		if c.table != "" {
			spec += "," + write(t, "table.txt", []byte(c.table))
		}
		src, err := Open(t.Context(), spec, Options{Masks: c.o})
		if c.wants == nil && err == nil {
			src.Close()
			continue
		}
		t.Run(c.name, func(t *testing.T) { wantError(t, err, c.wants...) })
	}
	for _, c := range []struct {
		mask []byte
		o    MaskOptions
		want string
	}{
		{binary, MaskOptions{}, "say which with mask-values 0,255 or ignore 255"},
		{maskOf(t), MaskOptions{}, "the masks hold 0 alone"},
		{bytesMask(t, 255), MaskOptions{}, "every pixel of every mask is ignored"},
	} {
		dir := photos(t, file{"a.png", c.mask}, file{"b.png", c.mask})
		_, err := Open(t.Context(), masksIn(dir), Options{})
		wantError(t, err, c.want)
		var p *problem.Error
		if !errors.As(err, &p) || problem.IsMisuse(err) {
			t.Errorf("%v is a mistake of the caller, or no problem", err)
		}
	}
	_, err := Open(t.Context(), "glyphs", Options{Masks: MaskOptions{Ignore: "0"}})
	wantError(t, err, "ignore 0: it is for masks:IMAGES,MASKS, not for glyphs")
}

func bytesMask(t *testing.T, v byte) []byte { return maskOf(t, bytes.Repeat([]byte{v}, 6)...) }

// opaque returns a colour picture without alpha.
func opaque() image.Image {
	m := image.NewRGBA(image.Rect(0, 0, 3, 2))
	for i := range m.Pix {
		m.Pix[i] = byte(40*(i%4) + 135)
	}
	return m
}

func TestMasksWithoutPartner(t *testing.T) {
	dir := photos(t, file{"a.png", maskOf(t, 0, 1)}, file{"c.png", maskOf(t, 0, 1)})
	_, err := Open(t.Context(), masksIn(dir), Options{})
	wantError(t, err, "2 of 3 files are bad", "member b.png: there is no mask of this name",
		"member c.png: there is no picture of this name", "skip-bad 2")
	src := open(t, masksIn(dir), Options{SkipBad: 2})
	if i := src.Info(); i.Len != 1 || len(i.Skipped) != 2 || len(label(t, src, 0)) != 6 {
		t.Errorf("%+v", i)
	}
}

// The parts of the data may be given by folders or by lists, in folders and in archives.
func TestMasksParts(t *testing.T) {
	picture, one, nine := pngOf(t, 3, 2, 1), maskOf(t, 0, 1), maskOf(t, 9, 0)
	images := []file{{"i/train/a.png", picture}, {"i/val/x/b.png", picture}}
	masks := []file{{"m/train/a.png", one}, {"m/val/x/b.png", nine}}
	dir := unpack(t, append(images, masks...))
	zipped := "masks:" + write(t, "i.zip", zipOf(t, images)) + "," + write(t, "m.tar", tarOf(t, masks))
	listed := unpack(t, []file{{"i/a.png", picture}, {"i/b.png", picture}, {"i/c.png", picture},
		{"m/a.png", one}, {"m/b.png", nine}, {"m/train.txt", []byte("a\n")}, {"m/test.txt", []byte("b.jpg\n\n")}})
	lists := "masks:" + listed + "/i," + listed + "/m"
	for _, spec := range []string{"masks:" + dir + "/i," + dir + "/m", zipped, lists} {
		for split, want := range map[Split]int32{Train: 0, Test: 9, Val: 9} {
			src := open(t, spec, Options{Split: split})
			i := src.Info()
			if i.Len != 1 || (i.Split == Train) != (split == Train) || len(i.Classes) != 10 ||
				label(t, src, 0)[0] != want {
				t.Errorf("%s: %+v", spec, i)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(listed, "m/train.txt"), []byte("a\nz\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), "masks:"+listed+"/i,"+listed+"/m", Options{})
	wantError(t, err, "member z: there is no picture of this name")
	mixed := unpack(t, []file{{"i/Train/a.png", picture}, {"i/extra/b.png", picture}, {"m/train/a.png", one},
		{"m/extra/b.png", one}})
	_, err = Open(t.Context(), "masks:"+mixed+"/i,"+mixed+"/m", Options{})
	wantError(t, err, "extra/ lies beside Train/", "move it")
}

func TestVOC(t *testing.T) {
	picture := pngOf(t, 3, 2, 1)
	files := []file{{"VOC/JPEGImages/a.jpg", picture}, {"VOC/JPEGImages/b.jpg", picture},
		{"VOC/SegmentationClass/a.png", maskOf(t, 20, 255)}, {"VOC/SegmentationClass/b.png", maskOf(t, 0)},
		{"VOC/ImageSets/Segmentation/train.txt", []byte("a\n")},
		{"VOC/ImageSets/Segmentation/trainval.txt", []byte("a\nb\n")},
		{"VOC/ImageSets/Segmentation/val.txt", []byte("b\n")}, {"VOC/Annotations/a.xml", nil}}
	for _, path := range []string{unpack(t, files), write(t, "voc.tar", tarOf(t, files))} {
		src := open(t, "voc:"+path, Options{})
		if i := src.Info(); i.Len != 1 || i.Split != Train || len(i.Classes) != 21 || label(t, src, 0)[0] != 20 {
			t.Errorf("%+v", i)
		}
		for _, split := range []Split{Val, Test} {
			i := open(t, "voc:"+path+"@"+string(split), Options{}).Info()
			if i.Len != 1 || i.Split != Val || (i.requested == Test) != (split == Test) {
				t.Errorf("@%s: %+v", split, i)
			}
		}
	}
	_, err := Open(t.Context(), "voc:"+unpack(t, files[:2]), Options{})
	wantError(t, err, "there is no SegmentationClass")
}
