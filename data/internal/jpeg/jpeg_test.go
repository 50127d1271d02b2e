package jpeg

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"image"
	stdlib "image/jpeg"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

// pictures reads the files that data/testdata/jpeg.py wrote into a folder.
func pictures(t testing.TB, folder string) map[string][]byte {
	t.Helper()
	f, err := os.Open("../../testdata/pictures.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		b, err2 := io.ReadAll(r)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		if name, ok := strings.CutPrefix(h.Name, folder+"/"); ok {
			files[name] = b
		}
	}
}

// The planes equal the ones of Go's decoder, except for the rounding of the inverse transform: samples differ
// by at most one. The digests of Go's planes fail if a release of Go changes its decoder. In this case look
// at the change, and do the same here if it is right.
func TestPlanesBesideGo(t *testing.T) {
	files := pictures(t, "photographs")
	if len(files) < 16 {
		t.Fatalf("%d photographs", len(files))
	}
	for name, want := range map[string]string{
		"one.jpeg":             "eba0d2ad625b3000",
		"one.progressive.jpeg": "eba0d2ad625b3000",
		"one.q50.440.jpeg":     "d39fe438bdd2b1a6",
		"one.restart.jpeg":     "e6ef66acfe144d8d",
		"one.grey.jpeg":        "d3098b74901f23b9",
		"one.q50.410.jpeg":     "dd8d876f1c86c595",
	} {
		img, err := stdlib.Decode(bytes.NewReader(files[name]))
		if err != nil {
			t.Fatal(name, err)
		}
		p, err := Decode(t.Context(), files[name])
		if err != nil {
			t.Fatal(name, err)
		}
		theirs := planesOf(img)
		if len(p.Planes) != len(theirs) {
			t.Fatalf("%s: %d planes, Go's decoder has %d", name, len(p.Planes), len(theirs))
		}
		h := sha256.New()
		for i, plane := range p.Planes {
			for y := range plane.H {
				ours, other := plane.Pix[y*plane.Stride:][:plane.W], theirs[i].Pix[y*theirs[i].Stride:][:plane.W]
				h.Write(other)
				for x := range ours {
					if d := int(ours[x]) - int(other[x]); d < -1 || d > 1 {
						t.Fatalf("%s: sample (%d, %d) of plane %d is %d, Go's decoder has %d", name, x, y, i, ours[x],
							other[x])
					}
				}
			}
		}
		if got := hex.EncodeToString(h.Sum(nil)[:8]); got != want {
			t.Errorf("%s: the planes of Go's image/jpeg have digest %s; they had %s in Go 1.26", name, got,
				want)
		}
	}
}

func planesOf(img image.Image) []Plane {
	switch m := img.(type) {
	case *image.Gray:
		return []Plane{{Pix: m.Pix, Stride: m.Stride}}
	case *image.YCbCr:
		return []Plane{{Pix: m.Y, Stride: m.YStride}, {Pix: m.Cb, Stride: m.CStride},
			{Pix: m.Cr, Stride: m.CStride}}
	}
	return nil
}

// Segments finds every scan of a file: 10 scans with libjpeg's progressive script for colours.
func TestSegments(t *testing.T) {
	files := pictures(t, "photographs")
	for name, want := range map[string][]int{"one.jpeg": {1}, "one.progressive.jpeg": {10},
		"one.restart.jpeg": {1}} {
		scans := 0
		for s := range Segments(files[name]) {
			if s.Marker == sos {
				scans++
			}
		}
		if !slices.Equal(want, []int{scans}) {
			t.Errorf("%s: %d scans, want %d", name, scans, want[0])
		}
	}
}

// The decoder does not panic for any input.
func FuzzDecode(f *testing.F) {
	for _, sampling := range []string{"444", "420", "411"} {
		files := pictures(f, sampling)
		f.Add(files["17x10.baseline.jpg"])
		f.Add(files["5x17.progressive.jpg"])
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		h, w, err := Size(t.Context(), file)
		if err != nil || h*w > 1<<16 {
			return
		}
		p, err := Decode(t.Context(), file)
		if err != nil {
			return
		}
		for _, plane := range p.Planes {
			if plane.W > 0 && plane.H > 0 {
				_ = plane.Pix[(plane.H-1)*plane.Stride+plane.W-1]
			}
		}
	})
}
