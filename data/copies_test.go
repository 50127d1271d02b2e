package data

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// ppmOf returns a PPM file where all pixels have one grey value.
func ppmOf(w, h int, grey byte) []byte {
	return append([]byte(fmt.Sprintf("P6 %d %d 255\n", w, h)), slices.Repeat([]byte{grey}, 3*w*h)...)
}

// TestCopies: pictures with equal pixels are copies of each other, in any format. Pictures of different
// shapes are not.
func TestCopies(t *testing.T) {
	src := open(t, "folder:"+unpack(t, []file{
		{"train/cat/1.png", pngOf(t, 4, 2, 1)}, {"train/cat/2.ppm", ppmOf(4, 2, 1)}, {"train/cat/3.png", pngOf(t, 2, 4, 1)},
		{"train/cat/4.png", pngOf(t, 4, 2, 2)}, {"train/dog/5.png", pngOf(t, 4, 2, 2)}, {"train/dog/6.png", pngOf(t, 4, 2, 3)},
	}), Options{})
	other := open(t, "folder:"+unpack(t, []file{{"val/cat/7.ppm", ppmOf(4, 2, 3)}, {"val/dog/8.png", pngOf(t, 4, 4, 1)}}),
		Options{Split: Val})
	c, err := FindCopies(t.Context(), src, other)
	if err != nil {
		t.Fatal(err)
	}
	want := &Copies{Extra: 2, Groups: [][]string{{"train/cat/1.png", "train/cat/2.ppm"}, {"train/cat/4.png", "train/dog/5.png"}},
		Classes: [][]string{{"train/cat/4.png", "train/dog/5.png"}}, Both: [][]string{{"train/dog/6.png", "val/cat/7.ppm"}}}
	if fmt.Sprint(c) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", c, want)
	}
	notes := strings.Join(c.Notes("elsewhere"), "\n")
	if want := `1 picture is elsewhere: train/dog/6.png = val/cat/7.ppm
1 picture has several labels: train/cat/4.png = train/dog/5.png
2 pictures have copies: train/cat/1.png = train/cat/2.ppm, train/cat/4.png = train/dog/5.png`; notes != want {
		t.Errorf("%s\nwant %s", notes, want)
	}
	if c, err := FindCopies(t.Context(), other); c != nil || err != nil || c.Notes("") != nil {
		t.Errorf("%v, %v; want no copies", c, err)
	}
}

// TestCopiesInFiles: if a source is large, its files are compared instead of pixels.
func TestCopiesInFiles(t *testing.T) {
	src := open(t, "folder:"+unpack(t, []file{{"cat/1.png", pngOf(t, 4, 2, 1)}, {"cat/2.ppm", ppmOf(4, 2, 1)},
		{"dog/3.png", pngOf(t, 4, 2, 1)}, {"dog/4.png", pngOf(t, 4, 2, 2)}}), Options{})
	c := comparison{sources: []Source{src}, inFiles: true}
	for i := range 4 {
		c.samples = append(c.samples, reference{0, i})
	}
	groups, err := groupsOf(t.Context(), c.samples, c.content)
	if err != nil || fmt.Sprint(groups) != "[[{0 0} {0 2}]]" {
		t.Errorf("%v, %v; want samples 0 and 2", groups, err)
	}
}

// TestCopiesBeyondTheLimit: if the files are too large to be compared, the report says so.
func TestCopiesBeyondTheLimit(t *testing.T) {
	src := open(t, "folder:"+unpack(t, []file{{"cat/1.ppm", ppmOf(4, 2, 1)}, {"cat/2.ppm", ppmOf(4, 2, 1)},
		{"dog/3.ppm", ppmOf(4, 4, 1)}}), Options{})
	size := int64(2 * len(ppmOf(4, 2, 1)))
	for most, want := range map[int64]string{
		size:     "1 picture has copies: cat/1.ppm = cat/2.ppm",
		size - 1: "equal pictures were not looked for: the files of equal size have 0.0 GiB, and up to 4 GiB are compared",
	} {
		c, err := copyLimits{hashedBytes: most}.find(t.Context(), []Source{src})
		if err != nil || strings.Join(c.Notes(""), "\n") != want {
			t.Errorf("%v, %v; want %s", c.Notes(""), err, want)
		}
	}
}

// TestCopiesOfArrays: pictures in arrays are compared, numbers and drawn samples are not.
func TestCopiesOfArrays(t *testing.T) {
	labels := saveNPY(t, "y.npy", tensor.Of([]int64{0, 1, 0}, 3))
	pictures := tensor.New(tensor.U8, 3, 2, 2, 3)
	pictures.Bytes[0] = 1
	numbers := tensor.New(tensor.F32, 3, 5)
	for spec, want := range map[string]string{
		"npy:" + saveNPY(t, "x.npy", pictures) + "," + labels: "[1 2]",
		"npy:" + saveNPY(t, "n.npy", numbers) + "," + labels:  "",
		"glyphs:3": "",
	} {
		c, err := FindCopies(t.Context(), open(t, spec, Options{}))
		got := ""
		if c != nil {
			for _, name := range c.Groups[0] {
				got += " " + name[strings.LastIndex(name, " ")+1:]
			}
			got = "[" + strings.TrimSpace(got) + "]"
		}
		if err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", spec, got, err, want)
		}
	}
}

// TestOpenAllFindsCopies: the report about a part of the data names pictures that other parts have too.
func TestOpenAllFindsCopies(t *testing.T) {
	dir := unpack(t, []file{{"train/cat/1.png", pngOf(t, 4, 2, 1)}, {"train/dog/2.png", pngOf(t, 4, 2, 2)},
		{"val/cat/3.png", pngOf(t, 4, 2, 1)}, {"val/dog/4.png", pngOf(t, 4, 2, 3)}})
	for _, part := range []string{"", "@train", "@val"} {
		src, err := OpenAll(t.Context(), "folder:"+dir+part, Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Survey(t.Context(), src)
		if err != nil || r.Copies == nil || len(r.Copies.Both) != 1 || src.Close() != nil {
			t.Errorf("%q: %+v, %v; want one picture on both sides", part, r, err)
		}
	}
}
