package predict

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// told is a source of labels, and a predictor of logits.
type told struct {
	logits tensor.Tensor
	labels []int32
}

func (s *told) Info() data.Info {
	return data.Info{Kind: "told", Len: len(s.labels), DType: tensor.F32, Shape: []int{1}, Labelled: true}
}
func (s *told) Sample(context.Context, int) (tensor.Tensor, error) {
	return tensor.New(tensor.F32, 1), nil
}
func (s *told) Label(_ context.Context, i int) ([]int32, error) { return s.labels[i : i+1], nil }
func (s *told) Name(i int) string                               { return string(rune('a' + i)) }
func (s *told) Fingerprint(context.Context) (string, error)     { return "", nil }
func (s *told) Close() error                                    { return nil }
func (s *told) Predict(_ context.Context, x tensor.Tensor) ([]tensor.Tensor, error) {
	return []tensor.Tensor{s.logits}, nil
}

func close9(a, b float64) bool { return math.Abs(a-b) <= 1e-9 }

// testdata/metrics.py has the figures of scikit-learn. Where it has 0 for a figure without
// a denominator, ours is NaN.
func TestFiguresAreThoseOfScikitLearn(t *testing.T) {
	file, err := os.ReadFile("testdata/metrics.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name                  string
		Classes               int
		Logits                []float32
		Labels                []int32
		Precision, Recall, F1 []float64
		Support               []int
		MacroF1               float64 `json:"macro_f1"`
		Balanced, AUROC       *float64
		ECE                   float64
		Temperature           []float64
		Thresholds            [][]*float64
	}
	if err := json.Unmarshal(file, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		s := &told{tensor.Of(c.Logits, len(c.Labels), c.Classes), c.Labels}
		d := &Details{Logs: true}
		e, err := evaluation.Run(t.Context(), s, s, evaluation.Options{Batch: len(c.Labels),
			Observers: d.Observers()})
		if err != nil {
			t.Fatal(err)
		}
		orZero := func(f evaluation.Figure) float64 {
			if f != f {
				return 0
			}
			return float64(f)
		}
		for class := range c.Classes {
			p, r, f := e.PerLabel(class)
			if !close9(orZero(p), c.Precision[class]) || !close9(orZero(r), c.Recall[class]) ||
				!close9(orZero(f), c.F1[class]) || e.PerClass[class].N != c.Support[class] {
				t.Errorf("%s: class %d has %g %g %g; want %g %g %g", c.Name, class, p, r, f, c.Precision[class],
					c.Recall[class], c.F1[class])
			}
		}
		f1, balanced := e.Macro()
		if !close9(float64(f1), c.MacroF1) || c.Balanced != nil && !close9(float64(balanced), *c.Balanced) {
			t.Errorf("%s: macro F1 %g, balanced accuracy %g; want %g, %v", c.Name, f1, balanced, c.MacroF1, c.Balanced)
		}
		if ece := d.calibrationError(); !close9(ece, c.ECE) {
			t.Errorf("%s: calibration error %g, want %g", c.Name, ece, c.ECE)
		}
		calibration, err := d.Calibrate()
		switch {
		case (err == nil) != (c.Temperature != nil):
			t.Errorf("%s: calibrated %v, %v; want %g", c.Name, calibration, err, c.Temperature)
		case err == nil && (math.Abs(calibration.Temperature/c.Temperature[0]-1) > 1e-6 ||
			!close9(float64(calibration.Loss), c.Temperature[1]) ||
			!close9(float64(calibration.LossBefore), e.Loss())):
			t.Errorf("%s: calibrated %+v, want %g", c.Name, *calibration, c.Temperature)
		}
		for k, want := range c.Thresholds {
			for i, w := range []*Wish{{false, 0.7}, {true, 0.7}} {
				d.Wish = w
				got := d.Thresholds()[k]
				figure := w.figure(got, !w.Recall)
				if (got.Threshold == got.Threshold) != (want[i] != nil) ||
					want[i] != nil && !close9(float64(figure), *want[i]) {
					t.Errorf("%s: class %d, %v: %+v, want %v", c.Name, k, *w, *got, want[i])
				}
			}
		}
		if area := d.auroc(); (area == area) != (c.AUROC != nil) || c.AUROC != nil && !close9(area, *c.AUROC) {
			t.Errorf("%s: AUROC %g, want %v", c.Name, area, c.AUROC)
		}
	}
}

func TestMistakesAreSortedByProbability(t *testing.T) {
	d := &Details{}
	d.observe(0, 0, []float64{math.Log(0.4), math.Log(0.6)}, math.NaN())
	d.observe(1, 1, []float64{math.Log(0.1), math.Log(0.9)}, math.NaN())
	d.observe(2, 0, []float64{math.Log(0.2), math.Log(0.8)}, math.NaN())
	m := &models.Model{Labels: []string{"cat", "a \"dog\""}}
	wrong := d.mistakes()
	if len(wrong) != 2 || wrong[0].sample != 2 || wrong[1].sample != 0 {
		t.Errorf("mistakes %v, want samples 2 and 0", wrong)
	}
	var lines strings.Builder
	if err := (&Details{answers: wrong}).WriteCSV(&lines, m, &told{}); err != nil {
		t.Fatal(err)
	}
	want := "sample,label,predicted,probability,probability_of_label\nc,cat,\"a \"\"dog\"\"\",0.8,0.2\n" +
		"a,cat,\"a \"\"dog\"\"\",0.6,0.4\n"
	if lines.String() != want {
		t.Errorf("CSV\n%s\nwant\n%s", lines.String(), want)
	}
}

// The page names every mistake, and markup in names is text.
func TestPageOfMistakes(t *testing.T) {
	src, err := data.Open(t.Context(), "glyphs:3", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := &models.Model{Architecture: "net", Labels: []string{"<b>one</b>", "two"}}
	d := &Details{}
	d.observe(1, 0, []float64{math.Log(0.25), math.Log(0.75)}, math.NaN())
	folder := filepath.Join(t.TempDir(), "new", "mistakes")
	if err := d.WriteMistakes(t.Context(), folder, m, src); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(folder, "index.html"))
	for _, text := range []string{"1 of 3 samples", "&lt;b&gt;one&lt;/b&gt;", "75.0 %", `src="0001.png"`} {
		if err != nil || !strings.Contains(string(page), text) {
			t.Errorf("the page lacks %q (%v)", text, err)
		}
	}
	err = d.WriteMistakes(t.Context(), folder, m, src)
	if err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("into the same folder again: %v", err)
	}
}

// Up to 1,000 classes a report has the whole matrix, above it the wrong predictions.
func TestReportOfManyClasses(t *testing.T) {
	for classes, matrix := range map[int]bool{1000: true, 1001: false} {
		scores := tensor.New(tensor.F32, 2, classes)
		scores.F32()[3], scores.F32()[classes+7] = 1, 1
		e := &evaluation.Evaluation{}
		if err := e.Add(scores, tensor.Of([]int32{3, 5}, 2), false); err != nil {
			t.Fatal(err)
		}
		r := NewReport(&models.Model{}, e, nil, time.Second)
		wrong := []evaluation.Misclassification{{Label: 5, Predicted: 7, N: 1}}
		if matrix && (len(r.Confusion) != classes || r.Confusion[5][7] != 1 || r.Confusions != nil) ||
			!matrix && (r.Confusion != nil || !slices.Equal(r.Confusions, wrong)) {
			t.Errorf("%d classes: a matrix of %d rows, %v", classes, len(r.Confusion), r.Confusions)
		}
	}
}
