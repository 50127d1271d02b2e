package images

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data/internal/picturetest"
)

// The decoded pixels equal Pillow's, bit for bit: of JPEGs in all chroma samplings, baseline and progressive,
// of all sizes from 1x1 to 17x17, of photographs, and of lossy WebPs.
func TestDecodeAsPillow(t *testing.T) {
	var want map[string]string
	files := picturetest.Goldens(t, "../testdata/pictures.tar.gz", &want)
	right, wrong := map[string]int{}, map[string][]string{}
	for name, file := range files {
		group := path.Dir(name)
		got, err := Decode(t.Context(), file, false)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if picturetest.DigestOf(got.Bytes) != want[name] {
			wrong[group] = append(wrong[group], path.Base(name))
		} else {
			right[group]++
		}
	}
	for group, least := range map[string]int{"444": 578, "422": 578, "420": 578, "440": 578, "411": 186,
		"410": 186, "photographs": 16, "webp": 5} {
		if slices.Sort(wrong[group]); len(wrong[group]) > 0 || right[group] < least {
			t.Errorf("%s: %d files are as Pillow decodes them, %d are not: %s", group, right[group],
				len(wrong[group]), strings.Join(wrong[group][:min(5, len(wrong[group]))], " "))
		}
	}
}

func TestOrientationAsPillow(t *testing.T) {
	var want map[string]struct {
		Width, Height int
		Pixels        string
	}
	for name, file := range picturetest.Goldens(t, "../testdata/exif.tar.gz", &want) {
		h, w, err := Size(t.Context(), file, true)
		if err != nil || h != want[name].Height || w != want[name].Width {
			t.Errorf("%s: %d x %d pixels (%v), want %d x %d", name, w, h, err, want[name].Width, want[name].Height)
		}
		got, err := Decode(t.Context(), file, true)
		if err != nil || !slices.Equal(got.Shape, []int{h, w, 3}) ||
			picturetest.DigestOf(got.Bytes) != want[name].Pixels {
			t.Errorf("%s: %v (%v) is not what Pillow's exif_transpose makes", name, got, err)
		}
		plain, err := Decode(t.Context(), file, false)
		if err != nil || !slices.Equal(plain.Shape, []int{5, 7, 3}) {
			t.Errorf("%s: %v (%v) when the orientation is ignored", name, plain, err)
		}
	}
}

// A file with wrong offsets is treated as upright.
func FuzzOrientation(f *testing.F) {
	tags := "II\x2a\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00"
	f.Add([]byte("\xff\xd8\xff\xe1\x00\x20Exif\x00\x00"+tags), uint8(0))
	f.Add([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x16eXIf"+tags), uint8(1))
	f.Add([]byte("RIFF0000WEBPEXIF\x16\x00\x00\x00"+tags), uint8(2))
	f.Add([]byte(tags), uint8(3))
	f.Add([]byte(tags[:4]+"\xff\xff\xff\xff\xff\xff"), uint8(3))
	f.Fuzz(func(t *testing.T, file []byte, format uint8) {
		name := []string{"JPEG", "PNG", "WebP", "TIFF"}[format%4]
		if got := orientation(file, name); got < 1 || got > 8 {
			t.Errorf("%s: orientation %d", name, got)
		}
	})
}
