package data

import (
	"bytes"
	"context"
	"image"
	stdjpeg "image/jpeg"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/data/internal/picturetest"
	"github.com/bnctl/bnctl/tensor"
)

// withEXIF returns a JPEG with an EXIF orientation.
func withEXIF(file []byte, orientation byte) []byte {
	tags := "Exif\x00\x00II\x2a\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00" + string(rune(orientation)) +
		"\x00\x00\x00"
	return slices.Concat([]byte("\xff\xd8\xff\xe1\x00"), []byte{byte(2 + len(tags))}, []byte(tags), file[2:])
}

// Scaling rows while they are decoded gives the same bytes as scaling the whole picture, for all kinds of
// files, orientations, sizes, filters and crops.
func TestDecodeInStrips(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var about map[string]string
	goldenFiles := picturetest.Goldens(t, "testdata/pictures.tar.gz", &about)
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range goldenFiles {
			if !yield(name) {
				return
			}
		}
	})
	for n := range 900 {
		var file []byte
		switch n % 3 {
		case 0:
			file = goldenFiles[names[r.IntN(len(names))]]
		case 1:
			m := image.NewNRGBA(image.Rect(0, 0, 1+r.IntN(120), 1+r.IntN(120)))
			for i := range m.Pix {
				m.Pix[i] = byte(r.Uint32())
			}
			var b bytes.Buffer
			if err := stdjpeg.Encode(&b, m, &stdjpeg.Options{Quality: 90}); err != nil {
				t.Fatal(err)
			}
			file = b.Bytes()
		default:
			file = picturetest.PNGOfNoise(r, 1+r.IntN(120), 1+r.IntN(120), 16, 6, nil, nil)
		}
		if bytes.HasPrefix(file, []byte("\xff\xd8\xff")) {
			file = withEXIF(file, byte(1+r.IntN(8)))
		}
		tr := Transform{Height: 1 + r.IntN(40), Width: 1 + r.IntN(40), Channels: []int{1, 3}[r.IntN(2)],
			BGR: r.IntN(2) == 0, Filter: []images.Filter{images.Bilinear, images.Bicubic}[r.IntN(2)]}
		if r.IntN(2) == 0 {
			tr.Resize = max(tr.Height, tr.Width) + r.IntN(9)
		}
		if n%5 == 0 {
			tr.Letterbox, tr.Resize = true, 0
		}
		exif := r.IntN(4) > 0
		whole, err := images.Decode(t.Context(), file, exif)
		if err != nil {
			t.Fatal(err)
		}
		if r.IntN(6) == 0 { // the picture is not scaled
			tr.Height, tr.Width, tr.Resize = max(1, whole.Shape[0]-r.IntN(2)), whole.Shape[1], 0
		}
		want := tensor.New(tensor.U8, tr.Height, tr.Width, tr.Channels)
		got := tensor.New(tensor.U8, tr.Height, tr.Width, tr.Channels)
		tr.Apply(want, whole, nil)
		if err := tr.Decode(t.Context(), got, file, exif); err != nil || !bytes.Equal(got.Bytes, want.Bytes) {
			t.Fatalf("%d: %v by %+v: other bytes (%v)", n, whole, tr, err)
		}
		if most, err := tr.Memory(t.Context(), file, exif, tr.Height, tr.Width); err != nil || most <= 0 {
			t.Fatalf("%d: %d bytes, %v", n, most, err)
		}
	}
}

// The memory that Memory computes for a large picture is the memory that Decode uses: a few rows, if the
// decoder returns rows one by one.
func TestDecodeInStripsTakesFewRows(t *testing.T) {
	const side = 2000 // 12 MB in RGB
	var b bytes.Buffer
	m := image.NewYCbCr(image.Rect(0, 0, side, side), image.YCbCrSubsampleRatio420)
	for i := range m.Y {
		m.Y[i] = byte(i * i >> 8)
	}
	if err := stdjpeg.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	var scan, bitmap bytes.Buffer
	deep := image.NewNRGBA64(image.Rect(0, 0, side, side/2))
	if err := tiff.Encode(&scan, deep, &tiff.Options{Compression: tiff.Deflate}); err != nil {
		t.Fatal(err)
	}
	if err := bmp.Encode(&bitmap, m); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(7, 8))
	for name, file := range map[string][]byte{"JPEG": b.Bytes(), "JPEG on its side": withEXIF(b.Bytes(), 6),
		"PNG of 16 bits": picturetest.PNGOfNoise(r, side, side/2, 16, 6, nil, nil), "TIFF": scan.Bytes(), "BMP": bitmap.Bytes()} {
		tr := Transform{Height: 224, Width: 224, Channels: 3, Resize: 256}
		counted, err := tr.Memory(context.Background(), file, true, 224, 224)
		if whole := name == "TIFF" || name == "BMP"; err != nil || (counted > 5<<20) != whole {
			t.Errorf("%s: %d bytes are counted (%v); in strips it is at most 5 MiB", name, counted, err)
		}
		dst := tensor.New(tensor.U8, 224, 224, 3)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := tr.Decode(context.Background(), dst, file, true); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if name == "TIFF" { // the strips of a TIFF grow by copying
			continue
		}
		// The tables of zlib grow by copying, too, so some more bytes are permitted. With the race detector, pools
		// drop some of their objects.
		taken := int64(after.TotalAlloc - before.TotalAlloc)
		if taken > counted+counted/4+2<<20 && !watched() {
			t.Errorf("%s: %d bytes are taken, %d counted", name, taken, counted)
		}
	}
}

// watched reports whether this program was built with the race detector.
func watched() bool {
	info, _ := debug.ReadBuildInfo()
	return info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
