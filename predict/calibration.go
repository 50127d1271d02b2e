package predict

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// Calibration is the temperature at which probabilities fit labels best: it minimises the
// cross-entropy of softmax(z / T), or of models.Sigmoid(z / T) for labels that do not exclude each
// other (Guo and others 2017).
type Calibration struct {
	Temperature float64 `json:"temperature"`
	Samples     int     `json:"samples"` // number of samples that the temperature was fitted to
	// LossBefore is the mean loss of a label on these samples without the temperature, and Loss
	// the mean loss with it. Classes that exclude each other also have a calibration error.
	LossBefore evaluation.Figure `json:"loss_before"`
	Loss       evaluation.Figure `json:"loss"`
	// ECE is Report.ECE, the expected calibration error, with the temperature. ECEBefore is the error
	// without the temperature.
	ECEBefore *evaluation.Figure `json:"ece_before,omitempty"`
	ECE       *evaluation.Figure `json:"ece,omitempty"`

	// Scale is 1 / Temperature, rounded to float32, for models.Calibrated.
	Scale float64 `json:"-"`
}

// Line describes the effect of the temperature.
func (c *Calibration) Line() string {
	text := fmt.Sprintf("temperature %.4g: loss %.4f, without %.4f", c.Temperature, c.Loss, c.LossBefore)
	if c.ECE != nil {
		text += fmt.Sprintf("; calibration error %s, without %s", c.ECE.Percent(), c.ECEBefore.Percent())
	}
	return text + fmt.Sprintf(" (on these %s)", problem.Plural(c.Samples, "sample"))
}

// bend is a loss as a function of the factor of logits: its sum over all labels, and its first two
// derivatives. The loss is convex.
type bend struct{ loss, slope, curvature float64 }

// hottest and coldest bound the factor of logits.
const hottest, coldest = 1. / 4096, 4096

// Calibrate returns the temperature for the answers, which were observed with Details.Logs. It returns
// an error if no temperature is the best: if all answers are right, larger logits always have a smaller
// loss; if they are no better than chance, smaller logits do.
func (d *Details) Calibrate() (*Calibration, error) {
	loss, n := d.bendOfClasses, len(d.answers)
	if len(d.elements) > 0 {
		loss, n = d.bendOfLabels, d.knownLabels()
	}
	switch first, last := loss(hottest), loss(coldest); {
	case n == 0:
		return nil, errors.New("the data has no label to calibrate on")
	case !tensor.IsFinite(first.loss) || !tensor.IsFinite(last.loss):
		return nil, errors.New("an output is not finite, or gives a label the probability 0: " +
			"nothing can be calibrated")
	case first.slope >= 0:
		return nil, problem.Advise("calibrate on the data that the model was made for",
			"no temperature fits: its answers are chance")
	case last.slope <= 0:
		return nil, problem.Advise("calibrate on more samples, that training has not seen",
			"no temperature fits: every sample is answered rightly, and the surer the better")
	}
	scale := float64(float32(lowest(loss)))
	before, after := loss(1), loss(scale)
	c := &Calibration{Temperature: 1 / scale, Scale: scale, Samples: len(d.answers) + len(d.elements),
		LossBefore: evaluation.Figure(before.loss / float64(n)), Loss: evaluation.Figure(after.loss / float64(n))}
	if len(d.answers) > 0 {
		was, is := evaluation.Figure(d.calibrationError()), evaluation.Figure(d.scaled(scale).calibrationError())
		c.ECEBefore, c.ECE = &was, &is
	}
	return c, nil
}

// lowest returns the argument at which a convex loss is minimal. It uses Newton's method, and halves
// the range of the logarithm if a step leaves that range.
func lowest(loss func(scale float64) bend) float64 {
	lo, hi, at := float64(hottest), float64(coldest), 1.0
	for range 200 {
		b := loss(at)
		if b.slope < 0 {
			lo = at
		} else {
			hi = at
		}
		next := at - b.slope/b.curvature
		if !(next > lo && next < hi) {
			next = math.Sqrt(float64(lo * hi))
		}
		if math.Abs(next-at) <= 1e-12*at {
			return next
		}
		at = next
	}
	return at
}

// bendOfClasses is the cross-entropy of classes that exclude each other.
func (d *Details) bendOfClasses(scale float64) (sum bend) {
	for _, a := range d.answers {
		top := float64(scale * slices.Max(a.logs))
		total, mean, square := 0.0, 0.0, 0.0
		for _, z := range a.logs {
			p := tensor.Exp(float64(scale*z) - top)
			if p == 0 {
				continue // this is also right for a logit of -Inf
			}
			total += p
			mean += float64(p * z)
			square += float64(float64(p*z) * z)
		}
		mean, square = mean/total, square/total
		sum.loss += top + tensor.Log(total) - float64(scale*a.logs[a.label])
		sum.slope += mean - a.logs[a.label]
		sum.curvature += square - float64(mean*mean)
	}
	return sum
}

// bendOfLabels is the binary cross-entropy of labels that do not exclude each other.
func (d *Details) bendOfLabels(scale float64) (sum bend) {
	for _, e := range d.elements {
		for k, l := range e.label {
			if l < 0 {
				continue
			}
			z := e.answer[k]
			x, p := float64(scale*z), models.Sigmoid(float64(scale*z))
			sum.loss += max(x, 0) + tensor.Log(1+tensor.Exp(-math.Abs(x))) - float64(x*float64(l))
			sum.slope += float64(z * (p - float64(l)))
			sum.curvature += float64(float64(z*z) * float64(p*(1-p)))
		}
	}
	return sum
}

func (d *Details) knownLabels() (n int) {
	for _, e := range d.elements {
		for _, l := range e.label {
			if l >= 0 {
				n++
			}
		}
	}
	return n
}

// scaled returns the answers with logits times scale.
func (d *Details) scaled(scale float64) *Details {
	out := &Details{answers: slices.Clone(d.answers)}
	for i := range out.answers {
		a := &out.answers[i]
		top, total := float64(scale*a.logs[a.predicted]), 0.0
		for _, z := range a.logs {
			total += tensor.Exp(float64(scale*z) - top)
		}
		a.probability = 1 / total
	}
	return out
}
