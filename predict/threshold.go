package predict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
)

// Wish is a goal for a threshold of the probability: a precision or a recall. A label is then predicted
// if its probability is at least the threshold.
type Wish struct {
	Recall bool    // the goal is a recall, the share of positive samples that are found; otherwise a precision
	Least  float64 // the least precision or recall, above 0, at most 1
}

// ParseWish reads "precision:0.95" or "recall:0.9". The error is a *problem.Error about the option
// threshold-for.
func ParseWish(text string) (*Wish, error) {
	of, least, _ := strings.Cut(text, ":")
	v, err := strconv.ParseFloat(least, 64)
	if err != nil || !(v > 0 && v <= 1) || of != "precision" && of != "recall" {
		return nil, problem.New("threshold-for", text, "want precision:SHARE or recall:SHARE, with "+
			"a share above 0 and at most 1, for example precision:0.95", "")
	}
	return &Wish{of == "recall", v}, nil
}

// Fits refuses a wish where no threshold decides: numbers, masks, and more than two classes that exclude each
// other.
func (w *Wish) Fits(m *models.Model, info data.Info) error {
	f := m.Graph.Main
	shape := f.Values[f.Outputs[0].Value].Type.Shape
	if info.MultiLabel || !info.Masks && info.Targets == nil && len(shape) == 1 && shape[0] == 2 {
		return nil
	}
	return problem.New("threshold-for", "", "it is for two classes, or for labels that do not exclude each "+
		"other", "leave it out")
}

// Threshold is the smallest probability at which a label holds, and the resulting figures
// on the samples that it was found on.
type Threshold struct {
	Threshold evaluation.Figure `json:"threshold"` // null if the wish cannot be met
	Precision evaluation.Figure `json:"precision"` // at this threshold; if that is null, the best possible
	Recall    evaluation.Figure `json:"recall"`
}

// threshold returns the threshold for a label with these scores, among the thresholds that reach the goal.
// If the goal is a precision, it is the threshold with the largest recall; if the goal is a recall,
// it is the threshold with the largest precision. The threshold is the midpoint between the
// probabilities on either side. threshold sorts scores.
func (w *Wish) threshold(scores []scored) *Threshold {
	slices.SortFunc(scores, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	positives := 0
	for _, a := range scores {
		if a.positive {
			positives++
		}
	}
	nan := evaluation.Figure(math.NaN())
	best, out := &Threshold{nan, nan, nan}, &Threshold{nan, nan, nan}
	if positives == 0 {
		return out
	}
	met := 0
	for i, a := range scores {
		if a.positive {
			met++
		}
		if i+1 < len(scores) && float32(models.Sigmoid(scores[i+1].score)) == float32(models.Sigmoid(a.score)) {
			continue // equal at every threshold, since thresholds are compared with probabilities in float32
		}
		t := &Threshold{0, ratioOf(met, i+1), ratioOf(met, positives)}
		if i+1 < len(scores) {
			t.Threshold = evaluation.Figure((models.Sigmoid(a.score) + models.Sigmoid(scores[i+1].score)) / 2)
		}
		if w.reached(t) && !(w.figure(best, !w.Recall) >= w.figure(t, !w.Recall)) {
			best = t
		}
		if !(w.figure(out, w.Recall) >= w.figure(t, w.Recall)) {
			out = t
		}
	}
	if !w.reached(best) {
		out.Threshold = nan
		return out
	}
	return best
}

func ratioOf(n, total int) evaluation.Figure { return evaluation.Figure(float64(n) / float64(total)) }

func (w *Wish) figure(t *Threshold, recall bool) evaluation.Figure {
	if recall {
		return t.Recall
	}
	return t.Precision
}

func (w *Wish) reached(t *Threshold) bool { return float64(w.figure(t, w.Recall)) >= w.Least }

// table writes thresholds by the names of labels.
func (w *Wish) table(names []string, thresholds map[string]*Threshold) []string {
	what := "precision"
	if w.Recall {
		what = "recall"
	}
	lines := []string{"", fmt.Sprintf("thresholds for a %s of %s", what, evaluation.Figure(w.Least).Percent()),
		fmt.Sprintf("%-24s  threshold  precision     recall", "label")}
	for _, name := range names {
		t := thresholds[name]
		line := fmt.Sprintf("%-24s  %9s  %9s  %9s", name, plain(&t.Threshold), t.Precision.Percent(),
			t.Recall.Percent())
		switch {
		case t.Recall != t.Recall:
			line += "  no sample has it"
		case t.Threshold != t.Threshold:
			line += "  out of reach: this is the most"
		}
		lines = append(lines, line)
	}
	return lines
}

// Thresholds returns the thresholds of d.Wish by the number of the label: for labels that do not
// exclude each other, or for both of two classes.
func (d *Details) Thresholds() (list []*Threshold) {
	if len(d.elements) == 0 {
		return d.ofTwo()
	}
	for k := range d.elements[0].label {
		list = append(list, d.Wish.threshold(d.scoresOf(k)))
	}
	return list
}

// ofTwo returns the thresholds for each of two classes.
func (d *Details) ofTwo() (out []*Threshold) {
	for class, sign := range []float64{-1, 1} {
		var all []scored
		for _, a := range d.answers {
			all = append(all, scored{float64(sign * a.margin), a.label == class})
		}
		out = append(out, d.Wish.threshold(all))
	}
	return out
}

// named returns thresholds by the names of their labels.
func named(m *models.Model, thresholds []*Threshold) map[string]*Threshold {
	out := map[string]*Threshold{}
	for k, t := range thresholds {
		out[Label(m, k)] = t
	}
	return out
}
