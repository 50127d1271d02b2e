package predict

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
)

// Comparison compares the answers of two models for the same samples. Two models of equal accuracy
// may give different answers, because each may be right where the other is wrong. So only the share
// of equal answers shows how close a model is to its original. Details.Against makes a Comparison.
type Comparison struct {
	Samples  int     `json:"samples"`  // samples that both models have answered
	Agreeing int     `json:"agreeing"` // number of samples with the same class from both models
	Accuracy float64 `json:"accuracy"` // accuracy of the other model
	// Difference is the accuracy of the model less the accuracy of the other.
	Difference float64 `json:"difference"`
}

// Against evaluates another model on the samples for which d has answers. src, w and workers are the same as
// for EvaluateWhole. Against opens the devices of o, and closes them. The error is a *problem.Error if the
// labels are not classes of samples.
func (d *Details) Against(ctx context.Context, other *models.Model, src data.Source, o Options, w Whole,
	workers int) (*Comparison, error) {
	if len(d.answers) == 0 {
		return nil, problem.New("against", "", "it compares classes of samples, not "+src.Info().Kind,
			"leave it out")
	}
	m, src, err := Evaluable(other, src, nil)
	if err != nil {
		return nil, err
	}
	o.Fleet.Note = nil // the notes were written for the first model
	p, err := Open(ctx, m, o)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	its := &Details{}
	if _, err := p.EvaluateWhole(ctx, src, w, workers, its); err != nil {
		return nil, err
	}
	return d.compare(its)
}

// compare compares the answers of two evaluations of the same samples, in the order of the samples. It
// returns an error if the evaluations have different numbers of answers.
func (d *Details) compare(other *Details) (*Comparison, error) {
	if len(other.answers) != len(d.answers) {
		return nil, fmt.Errorf("the other model answered %s, this one %d",
			problem.Plural(len(other.answers), "sample"), len(d.answers))
	}
	c, right, rightToo := &Comparison{Samples: len(d.answers)}, 0, 0
	for i, a := range d.answers {
		b := other.answers[i]
		if a.predicted == b.predicted {
			c.Agreeing++
		}
		if a.predicted == a.label {
			right++
		}
		if b.predicted == b.label {
			rightToo++
		}
	}
	c.Accuracy = float64(rightToo) / float64(c.Samples)
	c.Difference = float64(right)/float64(c.Samples) - c.Accuracy
	return c, nil
}

// Line formats the comparison for people, with shares in percent and the difference in
// points. name is the name of the other model.
func (c *Comparison) Line(name string) string {
	return fmt.Sprintf("against %s: %.2f %% of the answers agree; its accuracy is %.2f %%, this one's %+.2f "+
		"points", name, 100*float64(c.Agreeing)/float64(c.Samples), 100*c.Accuracy, 100*c.Difference)
}
