package augmentation

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/tensor"
)

// augmentGolden is a picture in augment.json and torchvision's result for it.
type augmentGolden struct {
	Width, Height int
	Mode          string
	Rows          map[string]string // digests of each change, by its name
	By            float64           // angle, factor or shift of the operation
	Box, Size     []int             // a part: left, top, width and height; its scaled width and height
	Scale         []float64         // range of the share of the area that drawn parts have: least, largest
	Moments       []float64         // means over many draws: see augment.py
	Is            string
}

// augmentGoldens is the output of augment.py.
type augmentGoldens struct {
	RandAugment, Trivial, Rotate, Jitter, Crop, Flip, Part, Erase, Parts, Erased []augmentGolden
}

func readAugmentGoldens(t *testing.T) augmentGoldens {
	t.Helper()
	var g augmentGoldens
	file, err := os.ReadFile("../testdata/augment.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(file, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// canvas returns the picture that augment.py generates.
func (g augmentGolden) canvas() *canvas {
	rgb := images.Plane{H: g.Height, W: g.Width, C: 3, Pix: nil}
	for y := range g.Height {
		for x := range g.Width {
			for c := range 3 {
				v := (x*x*3 + y*y*5 + x*y*7 + c*50) % 256
				rgb.Pix = append(rgb.Pix, byte(30+v*3/4))
			}
		}
	}
	if g.Mode == "RGB" {
		return &canvas{Plane: rgb}
	}
	grey := images.NewPlane(g.Height, g.Width, 1)
	images.Convert(grey, rgb)
	return &canvas{Plane: grey}
}

// after returns the digest of the picture after a change. augment.py writes digests in the same form.
func (g augmentGolden) after(change func(c *canvas)) string {
	c := g.canvas()
	change(c)
	sum := sha256.Sum256(c.Pix)
	return hex.EncodeToString(sum[:4])
}

// The pixels of every change of RandAugment and TrivialAugmentWide at every magnitude equal
// torchvision's, bit for bit.
func TestPoliciesAreTorchvisions(t *testing.T) {
	g := readAugmentGoldens(t)
	for name, of := range map[string]struct {
		policy  policy
		goldens []augmentGolden
	}{"randaugment": {randAugment, g.RandAugment}, "trivial": {trivialWide, g.Trivial}} {
		for _, golden := range of.goldens {
			if len(golden.Rows) != len(changes) {
				t.Errorf("%s has %d changes, want %d", name, len(changes), len(golden.Rows))
			}
			for _, h := range changes {
				for k, want := range strings.Fields(golden.Rows[h.name]) {
					got := golden.after(func(c *canvas) { of.policy.play(c, h, k%levels, k >= levels) })
					if got != want {
						t.Errorf("%s %dx%d %s: %s at level %d (negative %v) has pixels %s, want %s", name,
							golden.Width, golden.Height, golden.Mode, h.name, k%levels, k >= levels, got, want)
					}
				}
			}
		}
	}
}

func TestRotationAndColoursAreTorchvisions(t *testing.T) {
	g := readAugmentGoldens(t)
	for _, golden := range g.Rotate {
		if got := golden.after(func(c *canvas) { c.rotate(golden.By) }); got != golden.Is {
			t.Errorf("%dx%d %s turned by %g: %s, want %s", golden.Width, golden.Height, golden.Mode, golden.By, got,
				golden.Is)
		}
	}
	for _, golden := range g.Jitter {
		var got []string
		for _, change := range []func(images.Plane, float64){brightness, contrast, saturation} {
			got = append(got, golden.after(func(c *canvas) { change(c.Plane, golden.By) }))
		}
		if all := strings.Join(got, " "); all != golden.Is {
			t.Errorf("%dx%d %s by %g: %s, want %s", golden.Width, golden.Height, golden.Mode, golden.By, all, golden.Is)
		}
	}
}

// At each pixel, a transformed mask has the class of the pixel that the transformed picture shows there, or
// no class. The test picture encodes the class of each pixel in its colour.
func TestMasksMoveAlong(t *testing.T) {
	const h, w = 32, 40
	src := images.NewPlane(h, w, 1)
	for i := range src.Pix {
		src.Pix[i] = byte(1 + i%250)
	}
	for _, text := range []string{"crop", "flip", "rotate:90", "erase:1", "crop flip rotate erase"} {
		a, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		for i := range 60 {
			d := tensor.NewPhilox(3, tensor.StreamAugment).Draws(1, uint64(i))
			picture := images.NewPlane(h, w, 1)
			mask := images.NewPlane(h, w, 1)
			a.play(images.Scaling{}, picture, src, &d, false)
			a.play(images.Scaling{}, mask, src, &d, true)
			for k, class := range mask.Pix {
				switch beyond := class == Ignored; {
				case beyond && picture.Pix[k] != 0, !beyond && picture.Pix[k] != class:
					t.Fatalf("%s, sample %d: pixel %d is %d, its mask %d", text, i, k, picture.Pix[k], class)
				case beyond:
					seen++
				}
			}
		}
		if (seen > 0) != (text != "flip") {
			t.Errorf("%s: %d pixels of masks are beyond", text, seen)
		}
	}
}

// A mask is changed only by those operations of randaugment that move pixels. It uses the same draws as its
// picture.
func TestMasksFollowPolicies(t *testing.T) {
	for _, p := range []policy{randAugment, trivialWide} {
		for _, h := range changes {
			picture := augmentGolden{Width: 20, Height: 16, Mode: "L"}.canvas()
			mask := &canvas{Plane: picture.clone(), mask: true, border: Ignored}
			before := mask.clone()
			p.play(picture, h, 25, true)
			p.play(mask, h, 25, true)
			if !h.moves && !bytes.Equal(mask.Pix, before.Pix) {
				t.Errorf("%s changes a mask", h.name)
			}
			for k, class := range mask.Pix {
				if h.moves && class != Ignored && class != picture.Pix[k] {
					t.Fatalf("%s: pixel %d is %d, its mask %d", h.name, k, picture.Pix[k], class)
				}
			}
		}
	}
}

// The share of pictures where a part is erased, and the share of the area that is erased, equal the shares
// with torchvision's RandomErasing.
func TestErase(t *testing.T) {
	const n = 4000
	erased, share := 0, 0.0
	for i := range n {
		c := &canvas{Plane: images.Plane{H: 40, W: 40, C: 1, Pix: bytes.Repeat([]byte{1}, 1600)}}
		d := tensor.NewPhilox(1, tensor.StreamAugment).Draws(0, uint64(i))
		eraseOperation(c, []float64{0.5, 0.02, 0.33}, &d)
		if gone := bytes.Count(c.Pix, []byte{0}); gone > 0 {
			erased, share = erased+1, share+float64(gone)/1600
		}
	}
	if of := float64(erased) / n; math.Abs(of-0.5) > 0.03 || math.Abs(share/float64(erased)-eraseMean) > 0.01 {
		t.Errorf("%.3f of pictures erased, and of those %.3f; want 0.5, %g", of, share/float64(erased), eraseMean)
	}
}

// eraseMean is the mean share of the area that torchvision's RandomErasing.get_params
// erases by default from pictures of 40x40, over 60,000 draws.
const eraseMean = 0.174

// Invalid operations are refused. The error names the operation, the argument and its range.
func TestRefusedOperations(t *testing.T) {
	for text, want := range map[string]string{
		"blur":             `unknown augmentation "blur"; there are none, cifar`,
		"rotate:200":       `rotate:200: its degrees is "200", want a number from 0 to 180`,
		"crop:2.5":         `crop:2.5: its pixels is "2.5", want a whole number from 1 to 512`,
		"flip:":            `flip:: its probability is "", want a number from 0 to 1`,
		"flip:nan":         `its probability is "nan", want a number from 0 to 1`,
		"flip:0.5,1":       "flip:0.5,1: it takes probability (0.5)",
		"trivial:3":        "trivial:3: it takes no argument",
		"randaugment:2,31": `its magnitude is "31", want a whole number from 0 to 30`,
		"erase:1,0.5,0.1":  "its largest share of the area, 0.1, is below the least, 0.5",
		"flip crop flip":   "flip stands there twice",
		"flip resizedcrop": "resizedcrop: it makes the picture of the source, want it before flip",
		"cifar flip":       "cifar stands alone",
		"flip none":        "none stands alone",
		" ":                "no augmentation is named",
	} {
		if a, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q) = %q, %v; want %q", text, a, err, want)
		}
	}
	for text, want := range map[string]string{
		" crop   flip ":  "crop:4 flip:0.5",
		"jitter:0.2":     "jitter:0.2,0.2,0.2",
		"jitter:0.2,0.1": "jitter:0.2,0.1,0.4",
		"randaugment":    "randaugment:2,9",
		"trivial":        "trivial",
	} {
		if got, err := Parse(text); got.String() != want || err != nil {
			t.Errorf("Parse(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
}

// An augmentation is stored as its text, with all arguments, and can be read from it.
func TestTextOfAnAugmentation(t *testing.T) {
	for text, want := range map[string]string{`"none"`: `"none"`, `"segment"`: `"segment"`, `"crop flip:1"`: `"crop:4 flip:1"`} {
		var a, again Augmentation
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(a)
		if err != nil || string(got) != want {
			t.Errorf("%s is written as %s, %v; want %s", text, got, err, want)
		}
		if err := json.Unmarshal(got, &again); err != nil || !reflect.DeepEqual(a, again) {
			t.Errorf("%s is read as %v, %v; want %v", got, again, err, a)
		}
	}
	for _, text := range []string{`""`, `"x"`, `"flip:2"`} {
		var a Augmentation
		if err := json.Unmarshal([]byte(text), &a); err == nil {
			t.Errorf("%s is read as %v", text, a)
		}
	}
}
