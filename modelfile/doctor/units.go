package doctor

import (
	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
)

// imageFault reports a model with an image operation that has its mean or deviation in
// other units than its pixels. It returns the fault and the advice, or "" if there is no
// fault.
func imageFault(m *models.Model) (text, advice string) {
	i, ok := models.ImageOf(m)
	if !ok {
		return "", ""
	}
	if err := i.Units(); err != nil {
		return problem.Split(err)
	}
	return "", ""
}

// image adds the result of imageFault for a model.
func (p *Report) image(m *models.Model) {
	text, advice := imageFault(m)
	if text == "" {
		return
	}
	advice = "strip it again, and " + advice
	p.GraphFaults = append(p.GraphFaults, advice)
	p.otherFindings = append(p.otherFindings, bn.Finding{Layer: "image", Severity: bn.Fault, Problem: text,
		Advice: advice})
}
