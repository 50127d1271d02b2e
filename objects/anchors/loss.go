package anchors

import (
	"math"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/objects/cells"
	"github.com/bnctl/bnctl/tensor"
)

// alpha is the weight of an object in the focal loss, and 1 - alpha is the weight of the background (Lin et
// al. 2017). The exponent of the focal loss is 2.
const alpha = 0.25

// Loss returns the sum of the losses of one prediction [R, A] with its targets, in float64: the focal loss of
// the classes, and the loss of the box of each slot with an object. The loss of a box is 1 - GIoU
// (Rezatofighi et al. 2019). FCOS adds the binary cross-entropy of the centre. The first version of RetinaNet
// uses the sum of absolute errors in place of 1 - GIoU. For SSD see ssdLoss.
func (g *Grid) Loss(rows []float32, t cells.Targets) (sum float64) {
	if g.form == graph.SSDForm {
		return g.ssdLoss(rows, t)
	}
	n := len(g.anchors)
	column := func(of []float32, i int) [4]float32 { return [4]float32{of[i], of[n+i], of[2*n+i], of[3*n+i]} }
	for i := range n {
		if t.Mask[i] == 0 {
			continue
		}
		predicted, target := column(rows, i), column(t.Boxes, i)
		switch g.form {
		case graph.FCOSForm:
			sum += 1 - generalised(predicted, target)
			z := float64(rows[4*n+i])
			sum += float64(float64(t.Positive[i])*softplus(-z)) + float64(float64(t.Negative[i])*softplus(z))
		case graph.RetinaNetV2Form:
			sum += 1 - cells.Generalised(predicted, target)
		default:
			for j, v := range predicted {
				sum += math.Abs(float64(v) - float64(target[j]))
			}
		}
	}
	from := (g.Fields() - 4) * n
	return sum + focal(rows[g.Fields()*n:], t.Positive[from:], t.Negative[from:])
}

// focal returns the sum of the focal losses of logits.
func focal(logits, positive, negative []float32) (sum float64) {
	for i, logit := range logits {
		z := float64(logit)
		p, q := 1/(1+tensor.Exp(-z)), 1/(1+tensor.Exp(z))
		if positive[i] != 0 {
			sum += float64(float64(alpha*q*q) * softplus(-z))
		}
		if negative[i] != 0 {
			sum += float64(float64((1-alpha)*p*p) * softplus(z))
		}
	}
	return sum
}

// generalised returns the generalised intersection over union (GIoU) of two boxes that contain the same
// point. a and b are the distances of their sides from this point.
func generalised(a, b [4]float32) float64 {
	side := func(d [4]float32, axis int) float64 { return float64(d[axis]) + float64(d[axis+2]) }
	common, enclosing := 1.0, 1.0
	for axis := range 2 {
		common *= float64(min(a[axis], b[axis])) + float64(min(a[axis+2], b[axis+2]))
		enclosing *= float64(max(a[axis], b[axis])) + float64(max(a[axis+2], b[axis+2]))
	}
	union := float64(side(a, 0)*side(a, 1)) + float64(side(b, 0)*side(b, 1)) - common
	return common/union - 1 + union/enclosing
}

// softplus returns log(1 + exp(z)).
func softplus(z float64) float64 { return max(z, 0) + tensor.Log(1+tensor.Exp(-math.Abs(z))) }
