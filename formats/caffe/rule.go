package caffe

import (
	"fmt"

	"github.com/bnctl/bnctl/formats/internal/message"
)

// rule is a message NetStateRule: the conditions for including or excluding a layer.
type rule struct {
	exclude bool
	phase   int  // train or test; -1 for either
	staged  bool // the rule also has a level or a stage
}

// The values of phase in NetStateRule.
const (
	train = 0
	test  = 1
)

// rule reads a condition of a layer: field 8, include, or field 9, exclude.
func (d *decoder) rule(l *layer, p message.FieldExtent) error {
	if len(l.rules) == maxParams {
		return fmt.Errorf("more than %d rules", maxParams)
	}
	f, err := d.load(p)
	if err != nil {
		return err
	}
	r := rule{exclude: p.Number == 9, phase: -1}
	err = message.Walk(f.Bytes, func(f message.Field) error {
		if f.Number == 1 {
			r.phase = int(f.Bits & 1)
		} else {
			r.staged = true
		}
		return nil
	})
	l.rules = append(l.rules, r)
	return err
}

// absent reports whether the rules of l exclude it in a phase. A layer is present if one of
// its include rules matches the phase, or if it has only exclude rules and all of them fail
// to match.
func (l *layer) absent(phase int) bool {
	include, fits := false, false
	for _, r := range l.rules {
		include = include || !r.exclude
		fits = fits || r.phase < 0 || r.phase == phase
	}
	return len(l.rules) > 0 && fits != include
}

// checkRules rejects rules with conditions other than the phase.
func (l *layer) checkRules() error {
	for _, r := range l.rules {
		if r.staged {
			return fmt.Errorf("its rules ask for a level or a stage, which is not supported")
		}
	}
	return nil
}
