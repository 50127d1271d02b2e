package detection

import (
	"cmp"
	"math"
	"slices"

	"github.com/bnctl/bnctl/device/suppress"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// candidates are the candidates of a picture, ordered by slot, and for each slot by class.
type candidates struct {
	detector   *Detector
	prediction Prediction
	slots      []int
	classes    []int
	scores     []float32
	boxes      []suppress.Corners

	slot int // the slot that box and ok belong to; -1: no slot
	box  suppress.Corners
	ok   bool // box has no NaN
}

// add adds a candidate if its score is greater than limit.
func (c *candidates) add(slot, class int, score, limit float32) {
	if !(score > limit) {
		return
	}
	if c.slot != slot {
		c.slot = slot
		c.box, c.ok = c.detector.corners(&c.prediction, slot)
	}
	if c.ok {
		c.slots, c.classes = append(c.slots, slot), append(c.classes, class)
		c.scores, c.boxes = append(c.scores, score), append(c.boxes, c.box)
	}
}

// find finds the candidates of all slots.
func (c *candidates) find(limit float32) {
	p := &c.prediction
	fields := c.detector.Form.BoxRows()
	slots, classes := len(p.Values)/p.Rows, p.Rows-fields
	switch c.detector.Form {
	case graph.YOLOXForm:
		c.findBest(slots, classes, limit)
	case graph.FCOSForm:
		low := leastLogit(float64(limit) * math.Abs(float64(limit)))
		for i := range slots {
			centre := float64(p.value(4, i))
			if centre < low {
				continue
			}
			of := probability(centre)
			for k := range classes {
				if logit := float64(p.value(fields+k, i)); !(logit < low) {
					c.add(i, k, float32(math.Sqrt(float64(of*probability(logit)))), limit)
				}
			}
		}
	case graph.SSDForm:
		c.findFractions(slots, classes, limit)
	case graph.CornersForm:
		for i := range slots {
			for k := range classes {
				c.add(i, k, p.value(fields+k, i), limit)
			}
		}
	default:
		low := leastLogit(float64(limit))
		for i := range slots {
			for k := range classes {
				if logit := float64(p.value(fields+k, i)); !(logit < low) {
					c.add(i, k, float32(probability(logit)), limit)
				}
			}
		}
	}
}

// findBest does the same as find for graph.YOLOXForm. In this form only the class with the highest logit
// can be a candidate of a slot, or the first of several classes with that logit.
func (c *candidates) findBest(slots, classes int, limit float32) {
	p, low, fields := &c.prediction, leastLogit(float64(limit)), c.detector.Form.BoxRows()
	for i := range slots {
		object := float64(p.value(fields-1, i))
		if object < low {
			continue
		}
		best := 0
		for k := range classes {
			if p.value(fields+k, i) > p.value(fields+best, i) {
				best = k
			}
		}
		c.add(i, best, float32(probability(object)*probability(float64(p.value(fields+best, i)))), limit)
	}
}

// findFractions does the same as find for graph.SSDForm. In this form the score of a class is its share
// in a softmax over all classes and the background.
func (c *candidates) findFractions(slots, classes int, limit float32) {
	p, first, fractions := &c.prediction, c.detector.Form.BoxRows()-1, make([]float64, 1+classes)
	low := math.Inf(-1) // below this logarithm a fraction is too small
	if limit > 0 {
		low = tensor.Log(float64(limit)) - margin
	}
	for i := range slots {
		top, best := float64(p.value(first, i)), math.Inf(-1)
		for k := range classes {
			best = max(best, float64(p.value(first+1+k, i)))
		}
		if top = max(top, best); best-top < low {
			continue
		}
		total := 0.0
		for k := range fractions {
			fractions[k] = tensor.Exp(float64(p.value(first+k, i)) - top)
			total += fractions[k]
		}
		for k, fraction := range fractions[1:] {
			c.add(i, k, float32(fraction/total), limit)
		}
	}
}

// margin is larger than the rounding error of a logit that leastLogit computes, together with the
// rounding error of the probability of the logit.
const margin = 1e-3

// leastLogit returns a number below all logits with a probability greater than p.
func leastLogit(p float64) float64 {
	if !(p > 0 && p < 1) {
		return math.Inf(-1)
	}
	return tensor.Log(p/(1-p)) - margin
}

// probability returns the sigmoid of a logit; NaN for NaN.
func probability(logit float64) float64 { return 1 / (1 + tensor.Exp(-logit)) }

// limit removes candidates until each group has at most Before of them. It keeps the ones with the
// highest scores, and the first of equal scores.
func (c *candidates) limit() {
	d := c.detector
	if d.Before == 0 || len(c.scores) <= d.Before {
		return
	}
	groups := map[int][]int{}
	for i := range c.scores {
		g := c.classes[i]
		if len(d.Starts) > 0 {
			g, _ = slices.BinarySearch(d.Starts, c.slots[i]+1)
		}
		groups[g] = append(groups[g], i)
	}
	removed := make([]bool, len(c.scores))
	for _, all := range groups { // the order of groups has no effect
		if len(all) <= d.Before {
			continue
		}
		slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(c.scores[b], c.scores[a]) })
		for _, i := range all[d.Before:] {
			removed[i] = true
		}
	}
	n := 0
	for i := range c.scores {
		if !removed[i] {
			c.classes[n], c.scores[n], c.boxes[n] = c.classes[i], c.scores[i], c.boxes[i]
			n++
		}
	}
	c.classes, c.scores, c.boxes = c.classes[:n], c.scores[:n], c.boxes[:n]
}
