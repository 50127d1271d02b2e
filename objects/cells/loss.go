package cells

import (
	"math"

	"github.com/bnctl/bnctl/tensor"
)

// boxWeight is the weight of the loss of boxes in the loss of a detector (YOLOX).
const boxWeight = 5

// Loss returns the sum of the losses of one prediction [5+C, A] with its targets, in float64: binary
// cross-entropies of objects and classes, and boxWeight*(1 - GIoU) (Rezatofighi et al. 2019) for each cell
// with an object.
func (g *Grid) Loss(rows []float32, t Targets) (sum float64) {
	n := len(g.cells)
	for i, logit := range rows[4*n:] {
		z := float64(logit)
		if p := float64(t.Positive[i]); p != 0 {
			sum += float64(p * softplus(-z))
		}
		if q := float64(t.Negative[i]); q != 0 {
			sum += float64(q * softplus(z))
		}
	}
	for i := range n {
		if t.Mask[i] == 0 {
			continue
		}
		giou := Generalised([4]float32{rows[i], rows[n+i], rows[2*n+i], rows[3*n+i]},
			[4]float32{t.Boxes[i], t.Boxes[n+i], t.Boxes[2*n+i], t.Boxes[3*n+i]})
		sum += float64(boxWeight * (1 - giou))
	}
	return sum
}

// MatchedLoss returns the sum of the losses of one prediction with the objects that Match assigns, and the
// number of cells with an object. The losses are binary cross-entropies, and boxWeight*(1 - IoU*IoU) for each
// cell with an object. The target of such a cell's class is the overlap.
func (g *Grid) MatchedLoss(rows []float32, objects []Object, limit int) (sum float64, positives int) {
	n := len(g.cells)
	owner, overlaps := g.Match(rows, objects, limit)
	for i, k := range owner {
		if k == background {
			sum += softplus(float64(rows[4*n+i]))
		}
		if k < 0 {
			continue
		}
		positives++
		iou := float64(overlaps[i])
		sum += softplus(-float64(rows[4*n+i])) + float64(boxWeight*(1-float64(iou*iou)))
		for c := range len(rows)/n - Fields {
			z, q := float64(rows[(Fields+c)*n+i]), 0.0
			if c == objects[k].Class {
				q = iou
			}
			sum += float64(q*softplus(-z)) + float64((1-q)*softplus(z))
		}
	}
	return sum, positives
}

// Generalised returns the generalised intersection over union of a predicted box and corners: IoU - 1 +
// union/(area of the enclosing box). raw has the first four rows of the prediction. Both boxes are in cells
// from the same origin.
func Generalised(raw, corners [4]float32) float64 {
	x, y := float64(raw[0]), float64(raw[1])
	w, h := tensor.Exp(float64(raw[2])), tensor.Exp(float64(raw[3]))
	x1, y1, x2, y2 := float64(corners[0]), float64(corners[1]), float64(corners[2]), float64(corners[3])
	across := max(0, min(x+w/2, x2)-max(x-w/2, x1))
	down := max(0, min(y+h/2, y2)-max(y-h/2, y1))
	common := float64(across * down)
	union := float64(w*h) + float64((x2-x1)*(y2-y1)) - common
	enclosing := float64((max(x+w/2, x2) - min(x-w/2, x1)) * (max(y+h/2, y2) - min(y-h/2, y1)))
	return common/union - 1 + union/enclosing
}

// softplus returns log(1 + exp(z)).
func softplus(z float64) float64 { return max(z, 0) + tensor.Log(1+tensor.Exp(-math.Abs(z))) }
