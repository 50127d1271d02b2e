package data

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/tensor"
)

// synthetic returns the picture that testdata/pillow.py generates.
func synthetic(w, h int) tensor.Tensor {
	t := tensor.New(tensor.U8, h, w, 3)
	for i := range t.Bytes {
		x, y, c := i/3%w, i/3/w, i%3
		t.Bytes[i] = byte(x*x*3 + y*y*5 + x*y*7 + c*50)
	}
	return t
}

// pillowCase is an entry of testdata/pillow.json.
type pillowCase struct {
	Args   []int
	SHA256 string
	First  []int
}

func (c pillowCase) check(t *testing.T, name string, got []byte) {
	t.Helper()
	if sum := sha256.Sum256(got); hex.EncodeToString(sum[:]) != c.SHA256 {
		t.Errorf("%s%v = %d..., Pillow has %d...", name, c.Args, got[:12], c.First)
	}
}

func TestAsPillow(t *testing.T) {
	file, err := os.ReadFile("testdata/pillow.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases struct {
		Fit, Box, Grey []pillowCase
		FitBicubic     []pillowCase `json:"fit_bicubic"`
		BoxBicubic     []pillowCase `json:"box_bicubic"`
	}
	if err := json.Unmarshal(file, &cases); err != nil {
		t.Fatal(err)
	}
	for filter, all := range map[images.Filter][]pillowCase{
		images.Bilinear: cases.Fit, images.Bicubic: cases.FitBicubic,
	} {
		for _, c := range all {
			got := tensor.New(tensor.U8, c.Args[3], c.Args[3], 3)
			transform := Transform{Height: c.Args[3], Width: c.Args[3], Resize: c.Args[2], Filter: filter}
			transform.Apply(got, synthetic(c.Args[0], c.Args[1]), nil)
			c.check(t, "fit "+string(filter), got.Bytes)
		}
	}
	for filter, all := range map[images.Filter][]pillowCase{
		images.Bilinear: cases.Box, images.Bicubic: cases.BoxBicubic,
	} {
		for _, c := range all {
			src, side := synthetic(c.Args[0], c.Args[1]), c.Args[6]
			got := images.NewPlane(side, side, 3)
			from := images.Box{X: c.Args[2], Y: c.Args[3], W: c.Args[4], H: c.Args[5]}
			picture := images.Plane{H: src.Shape[0], W: src.Shape[1], C: 3, Pix: src.Bytes}
			images.Resample(filter, got, picture, from, side, side, got.Bounds())
			c.check(t, "box "+string(filter), got.Pix)
		}
	}
	for _, c := range cases.Grey {
		got := tensor.New(tensor.U8, c.Args[1], c.Args[0], 1)
		Transform{Channels: 1}.Apply(got, synthetic(c.Args[0], c.Args[1]), nil)
		c.check(t, "grey", got.Bytes)
	}
}
