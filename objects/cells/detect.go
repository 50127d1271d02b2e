package cells

import (
	"slices"

	"github.com/bnctl/bnctl/objects/suppress"
	"github.com/bnctl/bnctl/tensor"
)

// Detection is a predicted box, in pixels of the input.
type Detection struct {
	Corners suppress.Corners
	Class   int
	Score   float32 // probability of an object times the probability of its class
}

// Options limit detections.
type Options struct {
	Score   float32 // detections have a greater score
	Overlap float32 // two boxes of a class with more overlap are reduced to the better one
	Most    int     // maximum number: the best remain; 0: all
}

// before is the maximum number of candidates of a class that compete: the best ones.
const before = 1000

// Detections returns the boxes of one prediction [5+C, A] for cells of g, the highest score
// first. A cell has only the class with the highest logit, the first of equals, as in
// YOLOX. Boxes with NaN are left out. Other coordinates are limited: see
// suppress.Corners.Limited. Coordinates are computed in float64 and rounded once.
func (g *Grid) Detections(rows []float32, o Options) (all []Detection) {
	n := len(g.cells)
	classes := len(rows)/n - Fields
	var boxes []suppress.Corners
	var scores []float32
	var ofClass []int
	for i := range n {
		best := 0
		for c := range classes {
			if rows[(Fields+c)*n+i] > rows[(Fields+best)*n+i] {
				best = c
			}
		}
		score := float32(probability(rows[4*n+i]) * probability(rows[(Fields+best)*n+i]))
		if !(score > o.Score) {
			continue
		}
		corners := g.cells[i].box(rows[i], rows[n+i], rows[2*n+i], rows[3*n+i])
		if slices.ContainsFunc(corners[:], isNaN) {
			continue
		}
		boxes, scores, ofClass = append(boxes, corners), append(scores, score), append(ofClass, best)
	}
	for _, k := range suppress.Classwise(boxes, scores, ofClass, suppress.Options{Overlap: o.Overlap,
		Score: o.Score, Before: before, Most: o.Most}) {
		all = append(all, Detection{boxes[k], ofClass[k], scores[k]})
	}
	return all
}

// Corners returns the corners of the prediction of cell i, the first four rows, in pixels.
func (g *Grid) Corners(i int, v [4]float32) suppress.Corners {
	return g.cells[i].box(v[0], v[1], v[2], v[3])
}

// box returns the corners of a prediction in pixels.
func (p cell) box(x, y, w, h float32) suppress.Corners {
	s := float64(p.stride)
	cx, cy := float64((float64(x)+float64(p.x))*s), float64((float64(y)+float64(p.y))*s)
	halfW, halfH := float64(tensor.Exp(float64(w))*s/2), float64(tensor.Exp(float64(h))*s/2)
	return suppress.Corners{float32(cx - halfW), float32(cy - halfH), float32(cx + halfW),
		float32(cy + halfH)}.Limited()
}

// probability returns the sigmoid of a logit; NaN for NaN.
func probability(logit float32) float64 { return 1 / (1 + tensor.Exp(-float64(logit))) }

func isNaN(v float32) bool { return v != v }
