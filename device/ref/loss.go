package ref

import (
	"fmt"

	"github.com/bnctl/bnctl/tensor"
)

// eachLabel visits all labels that are not ignored. The logits of a row have shape (C, ...). visit
// gets row n, the label, and the line of the label's logits over the classes: its first element i
// and the stride between its elements.
func (c *call) eachLabel(visit func(n, label, i, stride int)) {
	x, labels := c.in(0), c.in(1)
	classes := x.typ.Shape[0]
	for n := range x.lead {
		for p, l := range labels.ints(n) {
			switch {
			case l == int64(c.Int("ignore")):
			case l < 0 || l >= int64(classes):
				c.err = fmt.Errorf("label %d of row %d is not one of 0 to %d", l, n, classes-1)
				return
			default:
				visit(n, int(l), n*x.size+p, labels.size)
			}
		}
	}
}

// target returns the label-smoothed probability of a class. If class weights apply to targets
// (weightsTargets), it is multiplied by the weight of the class.
func (c *call) target(class, label, classes int) float64 {
	s := c.Float("smoothing")
	t := s / float64(classes)
	if class == label {
		t += 1 - s
	}
	if c.weightsTargets() {
		t *= c.Floats("weights")[class]
	}
	return t
}

// weightsTargets reports whether class weights apply to targets instead of labels.
func (c *call) weightsTargets() bool { return c.Bool("weighted_targets") }

// targets returns the sum of the targets of all classes: 1 unless they are weighted.
func (c *call) targets(label, classes int) float64 {
	if !c.weightsTargets() {
		return 1
	}
	sum := 0.0
	for k := range classes {
		sum += c.target(k, label, classes)
	}
	return sum
}

// weight returns the weight of a label: the weight of its row, operand i, times the weight
// of its class. A missing weight is 1.
func (c *call) weight(i, n, label int) float64 {
	weight := 1.0
	if w := c.in(i); w != nil {
		weight = w.f[n]
	}
	if of := c.Floats("weights"); len(of) > 0 && !c.weightsTargets() {
		weight *= of[label]
	}
	return weight
}

// softmaxXent computes the weighted sum of -target*log(softmax) of each replica.
func softmaxXent(c *call) {
	y, classes := c.out(0), c.in(0).typ.Shape[0]
	c.eachLabel(func(n, label, i, stride int) {
		y.block(c.owner[n])[0] += float64(c.weight(2, n, label) * c.loss(label, i, classes, stride))
	})
}

// loss returns the cross-entropy of one line of logits, from element i on.
func (c *call) loss(label, i, classes, stride int) float64 {
	x, loss := c.in(0).f, 0.0
	largest, log := logSumExp(x, i, classes, stride)
	for k := range classes {
		if t := c.target(k, label, classes); t != 0 {
			loss -= float64(t * (x[i+k*stride] - largest - log))
		}
	}
	return loss
}

// softmaxXentGrad computes (softmax*targets - target)*weight*inverse, or 0 where the label is ignored.
func softmaxXentGrad(c *call) {
	x, dx, inverse := c.in(0).f, c.out(0).f, c.in(2).f[0]
	classes := c.in(0).typ.Shape[0]
	c.eachLabel(func(n, label, i, stride int) {
		largest, log := logSumExp(x, i, classes, stride)
		targets := c.targets(label, classes)
		for k := range classes {
			p := float64(tensor.Exp(x[i+k*stride]-largest-log) * targets)
			dx[i+k*stride] = (p - c.target(k, label, classes)) * c.weight(3, n, label) * inverse
		}
	})
}

// correct counts, for each replica, the labels that are the class with the largest logit (the first one
// if several are equal), and all labels.
func correct(c *call) {
	x, y := c.in(0).f, c.out(0)
	classes := c.in(0).typ.Shape[0]
	c.eachLabel(func(n, label, i, stride int) {
		best := 0
		for k := range classes {
			if x[i+k*stride] > x[i+best*stride] {
				best = k
			}
		}
		counts := y.block(c.owner[n])
		if best == label {
			counts[0]++
		}
		counts[1]++
	})
}
