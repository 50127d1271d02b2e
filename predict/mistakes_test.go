package predict

import (
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// Samples with a wrong label are sorted by their loss; one that is not finite comes first.
// A sample without an error in its known labels is left out.
func TestWorstLabels(t *testing.T) {
	d, page := &Details{}, &Mistakes{limit: 500}
	d.observeAll(0, []int32{1, 0}, []float64{2, -1})         // right
	d.observeAll(1, []int32{1, 0}, []float64{-1, -3})        // one label is wrong by a small margin
	d.observeAll(2, []int32{0, -1}, []float64{4, 9})         // one label is wrong by a large margin
	d.observeAll(3, []int32{-1, -1}, []float64{1, 1})        // nothing is known
	d.observeAll(4, []int32{1, 1}, []float64{math.NaN(), 1}) // the answer is not a number
	wrong := d.worstLabels(&models.Model{Labels: []string{"cat", "dog"}}, page)
	var order []int
	for _, e := range wrong.elements {
		order = append(order, e.sample)
	}
	rows := page.First[1].Rows
	if !slices.Equal(order, []int{4, 2, 1}) || page.Wrong != 3 ||
		!slices.Equal(rows, []MistakeRow{{"wrongly", "cat", "98.2 %", true}, {"is", "none of the labels", "", false}}) ||
		page.First[2].Rows[0] != (MistakeRow{"missed", "cat", "26.9 %", true}) {
		t.Errorf("order %v, rows %v", order, page.First)
	}
}

// A model with thresholds makes the mistakes that eval counts: cat holds from 0.2 on, dog from 0.99 on.
func TestWorstLabelsByThresholds(t *testing.T) {
	d, page := &Details{}, &Mistakes{limit: 500}
	d.observeAll(0, []int32{1, 0}, []float64{-1, 3}) // right, with probabilities 0.27 and 0.95
	d.observeAll(1, []int32{0, 1}, []float64{-1, 3}) // both labels are wrong
	m := &models.Model{Labels: []string{"cat", "dog"}, Thresholds: []float64{0.2, 0.99}}
	wrong := d.worstLabels(m, page)
	want := []MistakeRow{{"wrongly", "cat", "26.9 %", true}, {"missed", "dog", "95.3 %", true},
		{"is", "dog", "", false}}
	if len(wrong.elements) != 1 || wrong.elements[0].sample != 1 || !slices.Equal(page.First[0].Rows, want) {
		t.Errorf("%+v", page)
	}
}

// Errors weigh by the deviation of their numbers: an error of 1 in height is worse than an error of 5
// in weight.
func TestWorstNumbers(t *testing.T) {
	d, page := &Details{}, &Mistakes{limit: 500}
	bits := func(v float32) int32 { return int32(math.Float32bits(v)) }
	d.observeAll(0, []int32{bits(0), bits(0)}, []float64{0, 5})
	d.observeAll(1, []int32{bits(1), bits(100)}, []float64{2, 100})
	d.observeAll(2, []int32{bits(1), -1}, []float64{1, 7}) // right in all known labels
	wrong := d.worstNumbers(&models.Model{Labels: []string{"height", "weight"}}, page)
	if len(wrong.elements) != 2 || wrong.elements[0].sample != 1 || page.Wrong != 2 ||
		page.First[0].Rows[0] != (MistakeRow{"height", "2", "is 1", true}) {
		t.Errorf("%+v", page)
	}
}

// The page of masks has labels and answers side by side, the worst first. The table of the page has
// all samples.
func TestWorstMasks(t *testing.T) {
	src, err := data.Open(t.Context(), "shapes:3", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := &Details{Masks: 100}
	for i := range 3 { // answers with only background, which are mistakes if there is a shape
		label, err := src.Label(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		scores := tensor.New(tensor.F32, 1, 6, 64, 64)
		for at := range 64 * 64 {
			of := 0
			if i == 1 { // this answer is right
				of = int(label[at])
			}
			scores.F32()[of*64*64+at] = 1
		}
		d.observeMask(i, label, scores)
	}
	folder := filepath.Join(t.TempDir(), "mistakes")
	if err := d.WriteMistakes(t.Context(), folder, &models.Model{Architecture: "net"}, src); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(folder, "index.html"))
	table, csvErr := os.ReadFile(filepath.Join(folder, "mistakes.csv"))
	first := 0
	if d.masks[2].wrong > d.masks[0].wrong {
		first = 2
	}
	if err != nil || csvErr != nil || !strings.Contains(string(page), "2 of 3 samples") ||
		!strings.HasPrefix(string(table), "sample,pixels,wrong\n"+src.Name(first)+",4096,") ||
		strings.Count(string(table), "\n") != 3 {
		t.Errorf("page\n%s\ntable\n%s (%v, %v)", page, table, err, csvErr)
	}
	file, err := os.Open(filepath.Join(folder, "0001.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	picture, err := png.Decode(file)
	if err != nil || picture.Bounds().Dx() < 2*pageSide {
		t.Errorf("a picture of %v, %v", picture.Bounds(), err)
	}
}

// Only the pixels of the worst masks are kept.
func TestMasksThatAreKept(t *testing.T) {
	d := &Details{Masks: 100}
	scores := tensor.Of([]float32{1, 1, 1, 0, 0, 0}, 1, 2, 1, 3)
	for i := range 3 * d.Masks {
		d.observeMask(i, [][]int32{{0, 0, 0}, {1, 0, 0}, {0, 0, 1}}[i%3], scores)
	}
	for _, a := range d.stored {
		if a.wrong == 0 {
			t.Errorf("sample %d is kept, and nothing in it is wrong", a.sample)
		}
	}
	if len(d.stored) != d.Masks || len(d.masks) != 3*d.Masks {
		t.Errorf("%d of %d are kept, want %d", len(d.stored), len(d.masks), d.Masks)
	}
}
