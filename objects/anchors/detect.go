package anchors

import (
	"cmp"
	"math"
	"slices"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/objects/cells"
	"github.com/bnctl/bnctl/objects/suppress"
	"github.com/bnctl/bnctl/tensor"
)

// before is the maximum number of candidates of a map that compete: the best ones.
const before = 1000

// candidate is a class of a slot.
type candidate struct {
	slot, class int
	score       float32
}

// Detections returns the boxes of one prediction [R, A] for the slots of g, the highest
// score first, as torchvision computes them. A slot may have several classes, the best
// candidates of each map compete, and boxes are cut at the border of the input. A score is
// the probability of the class. For FCOS it is the square root of the product of two
// probabilities: of the centre and of the class. Of equal scores the lower slot is first,
// then the lower class. Boxes with NaN are left out. Numbers are computed in float64 and
// rounded once.
func (g *Grid) Detections(rows []float32, o cells.Options) (all []cells.Detection) {
	if g.form == graph.SSDForm {
		return g.ssdDetections(rows, o)
	}
	var boxes []suppress.Corners
	var scores []float32
	var classes []int
	for m, from := range g.starts {
		to := len(g.anchors)
		if m+1 < len(g.starts) {
			to = g.starts[m+1]
		}
		for _, c := range g.candidates(rows, from, to, o.Score) {
			corners, ok := g.corners(rows, c.slot)
			if ok {
				boxes, scores, classes = append(boxes, corners), append(scores, c.score), append(classes, c.class)
			}
		}
	}
	for _, k := range suppress.Classwise(boxes, scores, classes, suppress.Options{Overlap: o.Overlap,
		Score: o.Score, Most: o.Most}) {
		all = append(all, cells.Detection{Corners: boxes[k], Class: classes[k], Score: scores[k]})
	}
	return all
}

// candidates returns the best classes of slots from to to-1.
func (g *Grid) candidates(rows []float32, from, to int, least float32) (all []candidate) {
	n := len(g.anchors)
	first := g.Fields()
	for i := from; i < to; i++ {
		for c := range len(rows)/n - first {
			score := float32(probability(rows[(first+c)*n+i]))
			if g.form == graph.FCOSForm {
				score = float32(math.Sqrt(float64(probability(rows[4*n+i]) * probability(rows[(first+c)*n+i]))))
			}
			if score > least {
				all = append(all, candidate{i, c, score})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	return all[:min(len(all), before)]
}

// corners returns the box of a slot within the input; ok is false for NaN.
func (g *Grid) corners(rows []float32, i int) (c suppress.Corners, ok bool) {
	n, a := len(g.anchors), g.anchors[i]
	v := [4]float32{rows[i], rows[n+i], rows[2*n+i], rows[3*n+i]}
	var all [4]float64
	switch g.form {
	case graph.FCOSForm:
		all = around(a, v)
	case graph.SSDForm:
		all = decoded(a, inUnits(v))
	default:
		all = decoded(a, [4]float64{float64(v[0]), float64(v[1]), float64(v[2]), float64(v[3])})
	}
	for j, x := range all {
		limit := float64(g.Width)
		if j%2 == 1 {
			limit = float64(g.Height)
		}
		if x != x {
			return c, false
		}
		c[j] = float32(min(max(x, 0), limit))
	}
	return c, true
}

// around returns the corners of the box with sides at distances from the centre of an anchor.
func around(anchor box, v [4]float32) [4]float64 {
	x, y, w, h := anchor.sides()
	return [4]float64{x - float64(float64(v[0])*w), y - float64(float64(v[1])*h), x + float64(float64(v[2])*w),
		y + float64(float64(v[3])*h)}
}

// inUnits returns a prediction of SSD in sides of the anchor.
func inUnits(v [4]float32) (u [4]float64) {
	for j := range v {
		u[j] = float64(v[j]) / ssdUnits[j]
	}
	return u
}

// probability returns the sigmoid of a logit; NaN for NaN.
func probability(logit float32) float64 { return 1 / (1 + tensor.Exp(-float64(logit))) }
