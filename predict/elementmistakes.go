package predict

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// worstLabels implements worst for samples with several labels.
func (d *Details) worstLabels(m *models.Model, x *Mistakes) *Details {
	x.Order = "the largest loss first"
	wrong := d.sorted(func(e elements) float64 {
		loss, met := (&Details{elements: []elements{e}}).bendOfLabels(1).loss, true
		for k, l := range e.label {
			met = met && (l < 0 ||
				tensor.IsFinite(e.answer[k]) && models.Holds(m.Thresholds, k, e.answer[k]) == (l == 1))
		}
		if met {
			return 0
		}
		return loss
	}, x)
	for i := range x.First {
		e, is := wrong.elements[i], ""
		for k, l := range e.label {
			row := MistakeRow{"wrongly", Label(m, k), percent(models.Sigmoid(e.answer[k])), true}
			if l == 1 {
				row.Term, is = "missed", is+", "+Label(m, k)
			}
			if l >= 0 && models.Holds(m.Thresholds, k, e.answer[k]) != (l == 1) {
				x.First[i].Rows = append(x.First[i].Rows, row)
			}
		}
		is = cmp.Or(is, ", none of the labels")[2:]
		x.First[i].Rows = append(x.First[i].Rows, MistakeRow{"is", is, "", false})
	}
	return wrong
}

// worstNumbers implements worst for samples with numbers.
func (d *Details) worstNumbers(m *models.Model, x *Mistakes) *Details {
	x.Order = "the largest error first"
	deviation := d.deviations()
	wrong := d.sorted(func(e elements) (sum float64) {
		for k, bits := range e.label {
			if number := float64(data.Number(bits)); number == number {
				r := (e.answer[k] - number) / deviation[k]
				sum += float64(r * r)
			}
		}
		return sum
	}, x)
	for i := range x.First {
		for k, bits := range wrong.elements[i].label {
			is := "not known"
			if number := data.Number(bits); number == number {
				is = fmt.Sprintf("is %.6g", number)
			}
			said := fmt.Sprintf("%.6g", wrong.elements[i].answer[k])
			x.First[i].Rows = append(x.First[i].Rows, MistakeRow{Label(m, k), said, is, true})
		}
	}
	return wrong
}

// deviations returns the standard deviations of the known numbers, 1 if all numbers are
// equal.
func (d *Details) deviations() []float64 {
	var n, mean, squares []float64
	for _, e := range d.elements {
		if n == nil {
			zeros := func() []float64 { return make([]float64, len(e.label)) }
			n, mean, squares = zeros(), zeros(), zeros()
		}
		for k, bits := range e.label {
			if v := float64(data.Number(bits)); v == v {
				n[k]++
				apart := v - mean[k]
				mean[k] += apart / n[k]
				squares[k] += float64(apart * (v - mean[k]))
			}
		}
	}
	for k := range squares {
		if squares[k] = math.Sqrt(squares[k] / max(n[k], 1)); squares[k] == 0 {
			squares[k] = 1
		}
	}
	return squares
}

// sorted returns the samples with a badness other than 0, the worst first. Samples with a badness of
// NaN precede all others. It puts the first samples into x.
func (d *Details) sorted(badness func(e elements) float64, x *Mistakes) *Details {
	type judged struct {
		elements
		bad float64
	}
	var all []judged
	for _, e := range d.elements {
		switch bad := badness(e); {
		case bad != bad:
			all = append(all, judged{e, math.Inf(1)})
		case bad != 0:
			all = append(all, judged{e, bad})
		}
	}
	slices.SortStableFunc(all, func(a, b judged) int { return cmp.Compare(b.bad, a.bad) })
	out := &Details{}
	for i, j := range all {
		out.elements = append(out.elements, j.elements)
		if i < x.limit {
			x.First = append(x.First, Mistake{Sample: j.sample})
		}
	}
	x.Wrong = len(all)
	return out
}
