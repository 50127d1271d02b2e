package recipe

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// lrFactor multiplies the learning rate of tensors with names that match a pattern.
type lrFactor struct {
	pattern string
	factor  float64
}

// lrFactors reads Recipe.LROf.
func (r *Recipe) lrFactors() ([]lrFactor, error) {
	var all []lrFactor
	for _, rule := range r.LROf {
		pattern, text, _ := strings.Cut(rule, "=")
		number, isFactor := strings.CutSuffix(text, "x")
		f, err := strconv.ParseFloat(number, 64)
		if _, bad := path.Match(pattern, ""); bad != nil || !isFactor || err != nil || !(f > 0 && f <= 1e6) {
			return nil, problem.New("lr-of", strconv.Quote(rule), "want PATTERN=FACTORx, as layer1.*=0.1x", "")
		}
		all = append(all, lrFactor{pattern, f})
	}
	return all, nil
}

// LRFactor returns the factor of the learning rate of a tensor. It is the factor of the last pattern
// that matches the name, or 1.
func (r *Recipe) LRFactor(name string) float64 {
	all, _ := r.lrFactors()
	for _, l := range slices.Backward(all) {
		if ok, _ := path.Match(l.pattern, name); ok {
			return l.factor
		}
	}
	return 1
}

// CheckLROf refuses a pattern that matches no trained tensor.
func (r *Recipe) CheckLROf(trained []string) error {
	all, err := r.lrFactors()
	for _, l := range all {
		matches := func(name string) bool { ok, _ := path.Match(l.pattern, name); return ok }
		if !slices.ContainsFunc(trained, matches) {
			return problem.New("lr-of", strconv.Quote(l.pattern), "it matches no tensor that is trained",
				"look at their names with inspect")
		}
	}
	return err
}

// LRFactors returns the factors other than 1, in ascending order.
func (r *Recipe) LRFactors() []float64 {
	all, _ := r.lrFactors()
	var factors []float64
	for _, l := range all {
		if l.factor != 1 {
			factors = append(factors, l.factor)
		}
	}
	slices.Sort(factors)
	return slices.Compact(factors)
}
