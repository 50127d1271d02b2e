package predict

import (
	"bufio"
	"context"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// elementsOf evaluates the answers of testdata/elementmetrics.py as a predictor would, of a model with these
// thresholds.
func elementsOf(t *testing.T, numbers bool, thresholds ...float64) (*models.Model, *ElementsReport,
	*Details) {
	t.Helper()
	const n = 40
	info := data.Info{Len: n, DType: tensor.F32, Shape: []int{1}, Labelled: true, LabelShape: []int{4},
		MultiLabel: true, Classes: []string{"0", "1", "2", "3"}}
	if numbers {
		info.LabelShape, info.MultiLabel, info.Targets, info.Classes = []int{3}, false, []string{"0", "1", "2"}, nil
	}
	k := info.LabelShape[0]
	src := &toldElements{info: info}
	answers := tensor.New(tensor.F32, n, k)
	for at := range n * k {
		i, k := at/k, at%k
		known, label, said := (i+k)%7 != 0, int32(0), float32(0)
		if numbers {
			number := float32((i*i+5*k)%17 - 3)
			if k == 2 {
				number = 4
			}
			label, said = int32(math.Float32bits(number)), number+float32((13*i+k)%9-4)/2
		} else {
			if (i*i*(k+1)+3*i)%5 < 2 && k < 2 || k == 3 {
				label = 1
			}
			if said = float32((37*i+11*k)%23-11) / 8; k == 0 {
				said += 2 * float32(label)
			}
		}
		if !known {
			label = -1
		}
		src.all, answers.F32()[at] = append(src.all, label), said
	}
	m, d := &models.Model{Labels: slices.Concat(info.Classes, info.Targets)}, &Details{}
	src.logits = answers
	e, err := evaluation.Run(t.Context(), src, src, evaluation.Options{Batch: n,
		Loss: evaluation.LossOf(nil, info), Observers: d.Observers(), Thresholds: thresholds})
	if err != nil {
		t.Fatal(err)
	}
	return m, NewElementsReport(m, e, d, 1), d
}

// toldElements is a source of labels; its samples are empty.
type toldElements struct {
	told
	info data.Info
	all  []int32
}

func (s *toldElements) Info() data.Info { return s.info }
func (s *toldElements) Label(_ context.Context, i int) ([]int32, error) {
	n := tensor.Count(s.info.LabelShape)
	return s.all[i*n : (i+1)*n], nil
}

func TestElementMetricsAreScikitLearns(t *testing.T) {
	_, labels, answers := elementsOf(t, false)
	_, targets, _ := elementsOf(t, true)
	file, err := os.Open("testdata/elementmetrics.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	number := func(text string) float64 {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		f := strings.Fields(lines.Text())
		var got []evaluation.Figure
		from := 2
		switch f[0] {
		case "label":
			l := labels.Labels[f[1]]
			got = []evaluation.Figure{evaluation.Figure(l.N), evaluation.Figure(l.Positives), l.Precision,
				l.Recall, l.F1, l.AUROC}
		case "target":
			l := targets.Targets[f[1]]
			got = []evaluation.Figure{evaluation.Figure(l.N), l.MAE, l.RMSE, l.R2}
		case "temperature":
			c, err := answers.Calibrate()
			if err != nil || math.Abs(c.Temperature-number(f[1])) > 1e-6 {
				t.Errorf("calibrated %+v, %v; want %v", c, err, f)
				continue
			}
			got, from = []evaluation.Figure{evaluation.Figure(c.Loss)}, 2
		case "wish":
			k, _ := strconv.Atoi(f[1])
			for _, recall := range []bool{true, false} {
				w := &Wish{recall, 0.7}
				if at := w.threshold(answers.scoresOf(k)); at.Threshold == at.Threshold {
					got = append(got, w.figure(at, !recall))
				} else {
					got = append(got, -1)
				}
			}
		case "exact":
			got, from = []evaluation.Figure{*labels.ExactMatch}, 1
		case "right":
			got, from = []evaluation.Figure{*labels.Accuracy}, 1
		}
		for i, text := range f[from:] {
			want := number(text)
			is := float64(got[i])
			if math.IsNaN(is) != math.IsNaN(want) || math.Abs(is-want) > 1e-9*math.Max(1, math.Abs(want)) {
				t.Errorf("%v: figure %d is %.12g", f, i, is)
			}
		}
	}
}

// A label without positives and a target of equal numbers have "-" in place of undefined
// figures.
func TestElementLines(t *testing.T) {
	_, labels, _ := elementsOf(t, false)
	if lines := labels.Lines(); len(lines) != 7 || !strings.HasSuffix(lines[6], "-") {
		t.Errorf("%q", lines)
	}
	_, targets, _ := elementsOf(t, true)
	if lines := targets.Lines(); len(lines) != 6 || !strings.HasSuffix(lines[5], "-") {
		t.Errorf("%q", lines)
	}
}

// TestThresholdsOfElements: a model with the thresholds of a wish has the precision and the recall that were
// reported, and the thresholds do not change other figures.
func TestThresholdsOfElements(t *testing.T) {
	_, before, d := elementsOf(t, false)
	for _, wish := range []*Wish{{false, 0.6}, {true, 0.75}} {
		d.Wish = wish
		var thresholds []float64
		for _, got := range d.Thresholds() {
			if thresholds = append(thresholds, float64(got.Threshold)); got.Threshold != got.Threshold {
				thresholds[len(thresholds)-1] = 0.5
			}
		}
		_, after, _ := elementsOf(t, false, thresholds...)
		for k, want := range d.Thresholds() {
			name := strconv.Itoa(k)
			l := after.Labels[name]
			if want.Threshold == want.Threshold && (l.Precision != want.Precision || l.Recall != want.Recall) {
				t.Errorf("%v: label %d has precision %v, recall %v, want %+v", *wish, k, l.Precision, l.Recall, *want)
			}
			was := before.Labels[name]
			if a, b := float64(l.AUROC), float64(was.AUROC); a != b && a == a || l.N != was.N {
				t.Errorf("%v: label %d has AUROC %v, want %v", *wish, k, a, b)
			}
		}
	}
}
