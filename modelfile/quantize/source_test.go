package quantize

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// Samples need no labels: a folder of pictures, an array, and a source of the caller.
func TestSamplesWithoutLabels(t *testing.T) {
	_, path := made(t, "lenet-bn")
	dir := t.TempDir()
	pictures := tensor.New(tensor.U8, 5, 28, 28, 1)
	for i := range pictures.U8() {
		pictures.U8()[i] = byte(i * 7)
	}
	array := filepath.Join(dir, "x.npy")
	f, err := os.Create(array)
	if err == nil {
		err = data.WriteNPY(f, pictures)
	}
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	folder := filepath.Join(dir, "photos")
	pgm := append([]byte("P5 28 28 255\n"), make([]byte, 28*28)...)
	for i := range 28 * 28 {
		pgm[len(pgm)-1-i] = byte(i)
	}
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.pgm", "b.pgm"} {
		if err := os.WriteFile(filepath.Join(folder, name), pgm, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	mine, err := data.Open(context.Background(), "glyphs:7", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer mine.Close()
	for _, c := range []struct {
		o    Options
		want int
	}{{Options{Source: "npy:" + array}, 5}, {Options{Source: array}, 5},
		{Options{Source: "folder:" + folder}, 2},
		{Options{Source: folder}, 2}, {Options{Source: filepath.Join(folder, "a.pgm")}, 1},
		{Options{Data: mine}, 7}, {Options{Data: mine, Samples: 3}, 3}} {
		c.o.Input, c.o.Output = path, filepath.Join(dir, "q.bnm")
		r, err := File(context.Background(), c.o)
		if err != nil || r.Samples != c.want {
			t.Fatalf("%+v: %v, want %d samples", c.o, err, c.want)
		}
		decodes := slices.Contains(r.Model.Quantised.Numbers, "decode.netpbm/1")
		if want := strings.Contains(c.o.Source, folder); decodes != want {
			t.Errorf("%+v: the numbers are %q, want netpbm: %v", c.o, r.Model.Quantised.Numbers, want)
		}
	}
	if _, err := mine.Fingerprint(context.Background()); err != nil {
		t.Errorf("the source of the caller is closed: %v", err)
	}
}

// A model with folded batch norms is quantised by its weights, and a note reports it.
func TestFoldedNorms(t *testing.T) {
	m, _ := made(t, "lenet-bn")
	folded, _, err := formats.Fold(m)
	if err != nil {
		t.Fatal(err)
	}
	dir, noted := t.TempDir(), ""
	o := Options{Input: filepath.Join(dir, "f.bnm"), Output: filepath.Join(dir, "q.bnm"),
		Note: func(format string, _ ...any) { noted += format }}
	if _, err := serialize.WriteModel(o.Input, folded); err != nil {
		t.Fatal(err)
	}
	r, err := File(context.Background(), o)
	if err != nil || r.By != byWeights || !strings.Contains(noted, "no batch norms") {
		t.Fatalf("%v, %+v, note %q", err, r, noted)
	}
	if noise := noiseOf(t, folded, &built{Model: r.Model}); noise > 0.05 {
		t.Errorf("noise %g of the signal, want at most 0.05", noise)
	}
}

// A model with an input of numbers, not of pictures, needs samples, whichever node reads
// its input first.
func TestNumbersNeedSamples(t *testing.T) {
	for _, first := range []string{"p = relu(x)", "p = max_pool(x, kernel=[1,1])",
		"p = upsample(x, size=[10,10])", ""} {
		read := "p"
		if first == "" {
			read = "x"
		}
		g, err := graph.ParseGraph([]byte(`bnctl graph 1
graph "numbers"

state c.weight f32[4,3,3,3] weight he_normal(0)

func main(x rows f32[3,5,5]) {
  ` + first + `
  c = conv(` + read + `, @c.weight)
  return logits rows = c
}
`))
		m := &models.Model{Architecture: "numbers", Graph: g}
		if err == nil {
			err = models.Init(m, 1)
		}
		if err != nil {
			t.Fatal(err)
		}
		p, err := prepare(m, nil)
		if err == nil {
			_, err = p.byNorms()
		}
		if !errors.Is(err, ErrNoRange) {
			t.Errorf("%q: %v, want %v", first, err, ErrNoRange)
		}
	}
}
