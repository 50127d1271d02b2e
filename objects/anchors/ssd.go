package anchors

import (
	"cmp"
	"math"
	"slices"

	"github.com/bnctl/bnctl/device/detection"
	"github.com/bnctl/bnctl/objects/cells"
	"github.com/bnctl/bnctl/tensor"
)

// The constants of SSDlite (Liu et al. 2016, Sandler et al. 2018), as in torchvision.
const (
	ssdMaps             = 6
	ssdSmallest         = 0.2  // side of the squares of the finest map, as a share of the input's
	ssdLargest          = 0.95 // side of the squares of the coarsest map
	negativesOfPositive = 3    // number of background slots with a loss for each slot with an object
)

// addDefaults adds the default boxes of all feature maps.
func (g *Grid) addDefaults() {
	scale := func(k int) float64 {
		if k == ssdMaps {
			return 1
		}
		return ssdSmallest + float64((ssdLargest-ssdSmallest)*float64(k))/(ssdMaps-1)
	}
	rows, columns := g.Height/8, g.Width/8
	for k := range ssdMaps {
		rows, columns = (rows+1)/2, (columns+1)/2
		s, next := scale(k), math.Sqrt(float64(scale(k)*scale(k+1)))
		sides := [][2]float32{{float32(s), float32(s)}, {float32(next), float32(next)}}
		for _, ratio := range []float64{2, 3} {
			long, short := float32(float64(s*math.Sqrt(ratio))), float32(s/math.Sqrt(ratio))
			sides = append(sides, [2]float32{long, short}, [2]float32{short, long})
		}
		g.starts = append(g.starts, len(g.anchors))
		for y := range rows {
			for x := range columns {
				cx, cy := (float32(x)+0.5)/float32(columns), (float32(y)+0.5)/float32(rows)
				for _, side := range sides {
					g.anchors = append(g.anchors, defaultBox(cx, cy, side, float32(g.Width), float32(g.Height)))
				}
			}
		}
	}
}

// defaultBox returns a box by its centre and sides as shares of the input, which are at most 1.
func defaultBox(x, y float32, side [2]float32, width, height float32) box {
	w, h := min(side[0], 1)/2, min(side[1], 1)/2
	return box{float32((x - w) * width), float32((y - h) * height), float32((x + w) * width),
		float32((y + h) * height)}
}

// assignDefaults returns for each slot the index of the object that is assigned to it, or a negative number,
// like torchvision's SSD:
//
//   - A slot gets the object that overlaps it most (IoU), if the overlap is at least leastOverlap; of equal
//     overlaps, the first object. All other slots are background.
//   - The slot that overlaps an object most always gets that object; of equal overlaps, the first slot. If a
//     slot overlaps several objects most, it gets the last of them.
//   - Background with a centre inside an ignored object has no loss.
//
// Overlaps are float32, rounded after each operation.
func (g *Grid) assignDefaults(objects []cells.Object) []int {
	owner, overlaps := make([]int, len(g.anchors)), make([]float32, len(g.anchors))
	closest := map[int]int{}
	for i := range owner {
		owner[i] = background
	}
	for k, o := range objects {
		b := box(o.Corners)
		if o.Ignored || !(b.area() > 0) {
			continue
		}
		at, most := -1, float32(0)
		for i, a := range g.anchors {
			v := overlap(b, a)
			if v > most {
				at, most = i, v
			}
			if v >= leastOverlap && v > overlaps[i] {
				owner[i], overlaps[i] = k, v
			}
		}
		if at >= 0 {
			closest[at] = k
		}
	}
	for i, k := range closest {
		owner[i] = k
	}
	g.exclude(objects, owner)
	return owner
}

// defaultOffsets returns the numbers that SSD predicts for a box.
func defaultOffsets(anchor, b box) (v [4]float32) {
	ax, ay, aw, ah := anchor.sides()
	x, y, w, h := b.sides()
	for j, of := range [4]float64{(x - ax) / aw, (y - ay) / ah, tensor.Log(w / aw), tensor.Log(h / ah)} {
		v[j] = float32(float64(detection.Units[j] * of))
	}
	return v
}

// fillClass writes column i of Positive and Negative, for a slot that object k is assigned to. Positive is 1
// in the row of the object's class, or in row 0 for background. Negative has a number only for background: in
// row 0, the number of slots minus the index of the slot.
func (g *Grid) fillClass(t cells.Targets, i, k, class int) {
	n := len(g.anchors)
	switch {
	case k >= 0:
		t.Positive[(1+class)*n+i] = 1
	case k == background:
		t.Positive[i], t.Negative[i] = 1, float32(n-i)
	}
}

// negative is a background slot with its loss.
type negative struct {
	slot int
	loss float32
}

// ssdLoss returns the sum of two losses: smooth absolute errors of the boxes of slots with an object, and
// cross-entropies. The cross-entropies are of the slots with an object, and of the background slots with the
// largest losses, three times as many as there are slots with an object. Of background slots with equal
// losses the first are taken. Losses are compared as float32, and losses below 2^-32 count as equal.
func (g *Grid) ssdLoss(rows []float32, t cells.Targets) (sum float64) {
	n, positives := len(g.anchors), 0
	var hard []negative
	losses := make([]float64, n)
	for i := range n {
		losses[i] = crossEntropy(rows[4*n:], t.Positive, n, i)
		switch {
		case t.Mask[i] != 0:
			positives++
			sum += losses[i]
			for j := range 4 {
				x := float64(rows[j*n+i]) - float64(t.Boxes[j*n+i])
				c := min(max(x, -1), 1)
				sum += float64(c * (x - c/2))
			}
		case t.Negative[i] != 0:
			hard = append(hard, negative{slot: i, loss: max(float32(losses[i]), 0x1p-32)})
		}
	}
	slices.SortStableFunc(hard, func(a, b negative) int { return cmp.Compare(b.loss, a.loss) })
	for _, c := range hard[:min(len(hard), negativesOfPositive*positives)] {
		sum += losses[c.slot]
	}
	return sum
}

// crossEntropy returns the cross-entropy of column i of logits, [R, n], with targets.
func crossEntropy(logits, target []float32, n, i int) (loss float64) {
	top := math.Inf(-1)
	for at := i; at < len(logits); at += n {
		top = max(top, float64(logits[at]))
	}
	total := 0.0
	for at := i; at < len(logits); at += n {
		total += tensor.Exp(float64(logits[at]) - top)
	}
	total = tensor.Log(total) + top
	for at := i; at < len(logits); at += n {
		if target[at] != 0 {
			loss += total - float64(logits[at])
		}
	}
	return loss
}
