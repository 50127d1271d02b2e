package objects

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/jpeg"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/internal/shareddata"
	"github.com/bnctl/bnctl/problem"
)

// write writes files into a new folder. The content "@WxH" stands for a PNG of that size.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		if size, ok := strings.CutPrefix(content, "@"); ok {
			w, h, _ := strings.Cut(size, "x")
			width, _ := strconv.Atoi(w)
			height, _ := strconv.Atoi(h)
			var b bytes.Buffer
			if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
				t.Fatal(err)
			}
			content = b.String()
		}
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// xmlOf returns the annotation of a picture of 100 x 80 pixels in VOC's XML.
func xmlOf(objects string) string {
	return "<annotation>\n<size><width>100</width><height>80</height><depth>3</depth></size>\n" + objects +
		"</annotation>\n"
}

// bounds returns an object in VOC's XML, on one line.
func bounds(name, corners string) string {
	c := strings.Fields(corners)
	return "<object><name>" + name + "</name><bndbox><xmin>" + c[0] + "</xmin><ymin>" + c[1] +
		"</ymin><xmax>" + c[2] + "</xmax><ymax>" + c[3] + "</ymax></bndbox></object>\n"
}

// coco returns a document with an image, two categories and the given annotations. The annotations begin in
// line 4.
func coco(annotations string) string {
	return `{"images": [{"id": 7, "file_name": "a.png", "width": 100, "height": 80}],
"categories": [{"id": 3, "name": "dog"}, {"id": 1, "name": "cat"}],
"annotations": [
` + annotations + `]}`
}

// yolo returns the files of a folder with data.yaml and the labels of one picture of 100 x 80 pixels.
func yolo(labels string) map[string]string {
	return map[string]string{"data.yaml": "train: images/train\nval: images/val\nnames: [cat, dog]\nnc: 2\n",
		"images/train/a.png": "@100x80", "images/val/b.png": "@10x10", "labels/train/a.txt": labels}
}

// table returns the files of a folder with a table of boxes. The given rows begin in line 2.
func table(rows string) map[string]string {
	return map[string]string{"a.png": "@100x80", "boxes.csv": "path,x1,y1,x2,y2,label\n" + rows}
}

// rounded returns b with rounded corners, to compare boxes that were read from fractions.
func rounded(b Box) Box {
	round := func(v float64) float64 { return math.Round(v*1e9) / 1e9 }
	return Box{round(b.X1), round(b.Y1), round(b.X2), round(b.Y2)}
}

func open(t *testing.T, spec string) *Set {
	t.Helper()
	s, err := Open(t.Context(), spec, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestSameBox reads the same box from all formats. VOC's corners count from 1 and are inclusive, COCO has
// sizes, and YOLO has fractions.
func TestSameBox(t *testing.T) {
	want := Object{Box: Box{10, 20, 30, 60}, Class: 1, Area: 800}
	voc := write(t, map[string]string{
		"JPEGImages/a.png": "@100x80", "Annotations/a.xml": xmlOf(bounds("cat", "1 1 1 1") +
			bounds("dog", "11 21 30 60"))})
	document := write(t, map[string]string{"a.png": "@100x80", "boxes.json": coco(
		`{"id": 1, "image_id": 7, "category_id": 1, "bbox": [0, 0, 1, 1]},
{"id": 2, "image_id": 7, "category_id": 3, "bbox": [10, 20, 20, 40]}`)})
	labels := write(t, yolo("0 0.005 0.00625 0.01 0.0125\n1 0.2 0.5 0.2 0.5\n"))
	table := write(t, table("a.png,0,0,1,1,cat\na.png,10,20,30,60,dog\n"))
	for _, spec := range []string{"voc:" + voc, "coco:" + document, "coco:" + document + "/boxes.json",
		"yolo:" + labels + "@train", "csv:" + table, "csv:" + table + "/boxes.csv"} {
		s := open(t, spec)
		p := s.Pictures[0]
		if p.Width != 100 || p.Height != 80 || len(p.Objects) != 2 {
			t.Fatalf("%s: %+v", spec, p)
		}
		got := p.Objects[1]
		got.line = 0
		got.Box, got.Area = rounded(got.Box), math.Round(got.Area*1e9)/1e9
		if got != want || !reflect.DeepEqual(s.Classes, []string{"cat", "dog"}) {
			t.Errorf("%s: %+v of %v, want %+v", spec, got, s.Classes, want)
		}
		if first := p.Objects[0].Box; first != (Box{0, 0, 1, 1}) {
			t.Errorf("%s: the first pixel is %v", spec, first)
		}
		if picture, err := s.Decode(t.Context(), 0); err != nil || picture.Shape[0] != 80 {
			t.Errorf("%s: %v, %v", spec, picture.Shape, err)
		}
	}
}

func TestSplits(t *testing.T) {
	for name, c := range map[string]struct {
		kind  string
		files map[string]string
	}{
		"ImageSets": {"voc", map[string]string{
			"JPEGImages/a.png": "@100x80", "JPEGImages/b.png": "@100x80", "JPEGImages/c.png": "@100x80",
			"Annotations/a.xml": xmlOf(""), "Annotations/b.xml": xmlOf(""), "Annotations/c.xml": xmlOf(""),
			"ImageSets/Main/trainval.txt": "a\nb\n", "ImageSets/Main/train.txt": "a 1\n",
			"ImageSets/Main/val.txt": "b\n", "ImageSets/Main/test.txt": "c\n", "ImageSets/Main/cat_train.txt": "z -1\n"}},
		"folders of XML": {"voc", map[string]string{
			"train/a.png": "@100x80", "train/a.xml": xmlOf(""), "valid/b.png": "@100x80", "valid/b.xml": xmlOf(""),
			"test/c.png": "@100x80", "test/c.xml": xmlOf("")}},
		"documents": {"coco", map[string]string{
			"train/a.png": "@100x80", "train/_annotations.coco.json": coco(""), "valid/b.png": "@100x80",
			"valid/_annotations.coco.json": strings.Replace(coco(""), "a.png", "b.png", 1), "test/c.png": "@100x80",
			"test/_annotations.coco.json": strings.Replace(coco(""), "a.png", "c.png", 1)}},
		"instances": {"coco", map[string]string{
			"train2017/a.png": "@100x80", "annotations/instances_train2017.json": coco(""), "val2017/b.png": "@100x80",
			"annotations/instances_val2017.json": strings.Replace(coco(""), "a.png", "b.png", 1), "test2017/c.png": "@100x80",
			"annotations/instances_test2017.json": strings.Replace(coco(""), "a.png", "c.png", 1)}},
		"data.yaml": {"yolo", map[string]string{
			"data.yaml":        "path: ../datasets/x\ntrain: ../one/images\nval:\n- two/images\ntest: three.txt\nnames:\n  0: cat\n",
			"one/images/a.png": "@100x80", "two/images/b.png": "@100x80", "more/c.png": "@100x80",
			"three.txt": "/home/me/datasets/x/more/c.png\n"}},
		"names of folders": {"yolo", map[string]string{"data.yaml": "names: [cat]\n",
			"images/train/a.png": "@9x9", "images/val/b.png": "@9x9", "images/test/c.png": "@9x9"}},
	} {
		root := write(t, c.files)
		for split, want := range map[data.Split]string{data.Train: "a", data.Val: "b", data.Test: "c"} {
			s := open(t, c.kind+":"+root+"@"+string(split))
			if len(s.Pictures) != 1 || stem(s.Pictures[0].Name) != want {
				t.Errorf("%s: %s is %+v, want %s", name, split, s.Pictures, want)
			}
		}
	}
}

// TestBCCD compares counts and sums over the data set BCCD with the results of a Python program that uses
// xml.etree (testdata/bccd.py).
func TestBCCD(t *testing.T) {
	s := open(t, "voc:"+shareddata.File(t, "bccd.tar.gz"))
	r := Survey(s)
	got := map[string]int{"pictures": r.Pictures, "boxes": r.Boxes, "outside": r.Outside, "empty": r.Empty,
		"duplicates": r.Duplicates, "without": r.WithoutBoxes, "small": r.Small, "medium": r.Medium}
	want := map[string]int{"pictures": 364, "boxes": 4888, "outside": 0, "empty": 0, "duplicates": 0,
		"without": 0, "small": 34, "medium": 1386}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	classes := []ClassReport{{"Platelets", 361, 201}, {"RBC", 4155, 349}, {"WBC", 372, 358}}
	if !reflect.DeepEqual(r.Classes, classes) {
		t.Errorf("%+v, want %+v", r.Classes, classes)
	}
	area := 0.0
	for _, p := range s.Pictures {
		for _, o := range p.Objects {
			area += o.Area
		}
	}
	if area != 58545738 {
		t.Errorf("the areas sum to %v", area)
	}
}

// If a picture is turned by its EXIF orientation, boxes in the coordinates of the stored rows are turned with
// it. Boxes in the coordinates of the upright picture are not. The box must be where the red pixels are.
func TestEXIFTurnsBoxes(t *testing.T) {
	for orientation := 5; orientation <= 8; orientation++ {
		picture := image.NewRGBA(image.Rect(0, 0, 96, 64))
		for i := range picture.Pix {
			picture.Pix[i] = 0xff
		}
		for y := 16; y < 32; y++ {
			for x := 48; x < 80; x++ {
				copy(picture.Pix[picture.PixOffset(x, y):], []byte{255, 0, 0, 255})
			}
		}
		stored := `{"id": 1, "image_id": 7, "category_id": 3, "bbox": [48, 16, 32, 16]}`
		root := write(t, map[string]string{"a.json": strings.NewReplacer(`"width": 100`, `"width": 96`, `"height": 80`,
			`"height": 64`, "a.png", "a.jpg").Replace(coco(stored)), "a.jpg": jpegWith(t, picture, orientation)})
		s := open(t, "coco:"+root)
		p := s.Pictures[0]
		upright, err := s.Decode(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		box := p.Objects[0].Box
		if p.Width != 64 || p.Height != 96 || box.Width() != 16 || box.Height() != 32 {
			t.Fatalf("orientation %d: %d x %d, %v", orientation, p.Width, p.Height, box)
		}
		for y := range 96 {
			for x := range 64 {
				at := Box{float64(x), float64(y), float64(x + 1), float64(y + 1)}
				isRed := upright.Bytes[3*(64*y+x)+1] < 128
				if inside := box.Intersect(at) == 1; inside != isRed {
					t.Fatalf("orientation %d: pixel %d, %d is red: %v; inside: %v", orientation, x, y, isRed, inside)
				}
			}
		}
	}
}

// jpegWith returns a JPEG with an EXIF orientation.
func jpegWith(t *testing.T, picture image.Image, orientation int) string {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, picture, &jpeg.Options{Quality: 95}); err != nil {
		t.Fatal(err)
	}
	exif := []byte("Exif\x00\x00MM\x00\x2a\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00")
	exif[6+8+2+8+1] = byte(orientation)
	segment := binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(exif)+2))
	return b.String()[:2] + string(segment) + string(exif) + b.String()[2:]
}

func TestFaultsAreFound(t *testing.T) {
	err := error(&Faults{[]Fault{{"a.xml", 3, "bad", "mend it"}}})
	var p *problem.Error
	if !errors.As(err, &p) || p.Advice != "mend it" || p.Misuse() {
		t.Errorf("%+v", p)
	}
	if got, want := err.Error(), "a.xml:3: bad; mend it"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The outline of a box is drawn inside of the box, in the colour of its class.
func TestDraw(t *testing.T) {
	root := write(t, map[string]string{"a.png": "@100x80", "boxes.json": coco(
		`{"id": 1, "image_id": 7, "category_id": 3, "bbox": [10, 20, 30, 40]}`)})
	s := open(t, "coco:"+root)
	picture, err := s.Decode(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	out := Draw(picture, []Outline{{Box: s.Pictures[0].Objects[0].Box, Class: 1}})
	dog := ColourOf(1)
	for y := range 80 {
		for x := range 100 {
			inside := x >= 10 && x < 40 && y >= 20 && y < 60
			edge := inside && (x == 10 || x == 39 || y == 20 || y == 59)
			if isDrawn := out.RGBAAt(x, y) == dog; isDrawn != edge {
				t.Fatalf("pixel %d, %d: %v", x, y, isDrawn)
			}
		}
	}
	grid, n, err := Overview(t.Context(), s, 9, 4, 50)
	if err != nil || n != 1 || grid.RGBAAt(2+5, 2+5+10) != dog {
		t.Errorf("%d pictures, %v, %v", n, err, grid.RGBAAt(2+5, 2+5+10))
	}
}
