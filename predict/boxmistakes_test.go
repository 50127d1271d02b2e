package predict

import (
	"bytes"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/objects"
	"github.com/bnctl/bnctl/objects/average"
)

// The page has the curves, and below them the pictures, the one with the most faults first. Each
// shows annotations next to detections.
func TestMistakesOfBoxes(t *testing.T) {
	src, err := data.Open(t.Context(), "shapes:3", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	b := objects.Box{X1: 10, Y1: 20, X2: 30, Y2: 40}
	other := objects.Box{X1: 0, Y1: 0, X2: 8, Y2: 8}
	set := &objects.Set{Classes: []string{"a", "b"}, Pictures: []objects.Picture{
		{Objects: []objects.Object{{Box: b, Class: 0, Area: b.Area()}}},
		{Objects: []objects.Object{{Box: b, Class: 1, Area: b.Area()}}},
		{Objects: []objects.Object{{Box: b, Class: 1, Area: b.Area()}, {Box: other, Area: other.Area()},
			{Box: objects.Box{X1: 50, Y1: 0, X2: 60, Y2: 10}, Difficult: true}}}}}
	far := objects.Box{X1: 40, Y1: 40, X2: 50, Y2: 50}
	found := []average.Detection{{Picture: 0, Box: b, Score: 0.9}, {Picture: 1, Box: b, Score: 0.8},
		{Picture: 2, Box: far, Score: 0.7}, {Picture: 2, Score: 0.1}}
	d, folder := Details{Boxes: &Detected{Set: set, Found: found}}, filepath.Join(t.TempDir(), "worst")
	if err := d.WriteMistakes(t.Context(), folder, &models.Model{Architecture: "it"}, src); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(folder, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2 of 3 samples", `not annotated <b class="bad">1 box`, "Precision by recall",
		`missed <b class="bad">2 boxes</b>`, `of another class <b class="bad">1 box</b>`, "#800000",
		"found <b>0</b> of 2<"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("%s is missing in %s", want, page)
		}
	}
	table, err := os.ReadFile(filepath.Join(folder, "mistakes.csv"))
	if n := strings.Count(string(table), "\n"); err != nil || n != 5 {
		t.Errorf("%d lines, %v: %s", n, err, table)
	}
	file, err := os.ReadFile(filepath.Join(folder, "0001.png"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	want, first := objects.ColourOf(1), p.Bounds()
	if first.Dx() != 2*pageSide+4 || first.Dy() != pageSide {
		t.Fatal(first)
	}
	// The box of class 1 is annotated but not detected.
	scale := float64(pageSide) / float64(src.Info().Shape[1])
	x, y := int(b.X1*scale), int(30*scale)
	if got := p.At(x, y); !same(got, want) {
		t.Errorf("left: %v, want %v", got, want)
	}
	if got := p.At(x+pageSide+4, y); same(got, want) {
		t.Errorf("right: %v", got)
	}
}

func same(a, b color.Color) bool {
	r1, g1, b1, _ := a.RGBA()
	r2, g2, b2, _ := b.RGBA()
	return r1 == r2 && g1 == g2 && b1 == b2
}
