package anchors

import (
	"math"

	"github.com/bnctl/bnctl/objects/cells"
)

// These are special values in an assignment. All other values are the index of the object that is assigned to
// a slot.
const (
	background = -1 // no object
	unknown    = -2 // an ignored object, which has no loss
)

// These are the limits that assignInside uses, in units of the side of a cell.
const (
	radius    = 1.5 // distance from the centre of an object
	low, high = 4, 8
)

// largestArea is the area in pixels from which on an object gets no slots.
const largestArea = 1e8

// assignInside returns for each slot the index of the object that is assigned to it, or a negative number.
// Like torchvision's FCOS (Tian et al. 2019), it needs no predictions:
//
//   - An object gets slots on one feature map: the map where the farthest side of its box is more than low
//     and less than high cells away from the slot. The finest map has no lower limit, and the coarsest no
//     upper one. The object gets the slots that are inside its box and, along both axes, within radius of its
//     centre.
//   - A slot inside several objects gets the one with the smallest area; of equal areas, the first.
//   - A slot without an object has no loss if it is inside an ignored object.
func (g *Grid) assignInside(objects []cells.Object) []int {
	owner := make([]int, len(g.anchors))
	for i, a := range g.anchors {
		owner[i] = background
		best := float32(0)
		for k, o := range objects {
			area := box(o.Corners).area()
			if o.Ignored || !(area > 0) || !(area < largestArea) || owner[i] >= 0 && !(area < best) {
				continue
			}
			if g.holds(i, a, box(o.Corners)) {
				owner[i], best = k, area
			}
		}
	}
	g.exclude(objects, owner)
	return owner
}

// exclude changes background to unknown where it is inside an ignored object.
func (g *Grid) exclude(objects []cells.Object, owner []int) {
	for _, o := range objects {
		if !o.Ignored {
			continue
		}
		for i, a := range g.anchors {
			if x, y := a.centre(); owner[i] == background && x > o.Corners[0] && x < o.Corners[2] &&
				y > o.Corners[1] && y < o.Corners[3] {
				owner[i] = unknown
			}
		}
	}
}

// holds reports whether the object with box o may be assigned to slot i, which has the anchor a.
func (g *Grid) holds(i int, a, o box) bool {
	x, y := a.centre()
	cx, cy := o.centre()
	side := a[2] - a[0]
	if !(max(abs(x-cx), abs(y-cy)) < float32(radius*side)) {
		return false
	}
	d := distances(x, y, o)
	if !(min(d[0], d[1], d[2], d[3]) > 0) {
		return false
	}
	farthest := max(d[0], d[1], d[2], d[3])
	fine, coarse := i < g.starts[1], i >= g.starts[len(g.starts)-1]
	return (fine || farthest > low*side) && (coarse || farthest < high*side)
}

// distances returns the distances of a point to the left, upper, right and lower side of a box.
func distances(x, y float32, b box) [4]float32 {
	return [4]float32{x - b[0], y - b[1], b[2] - x, b[3] - y}
}

func abs(v float32) float32 { return float32(math.Abs(float64(v))) }

// centreness returns the target for the logit of the centre, from the distances d of a point to the sides of
// a box: 1 in the middle of the box, and 0 at its sides.
func centreness(d [4]float32) float32 {
	across := float64(min(d[0], d[2])) / float64(max(d[0], d[2]))
	down := float64(min(d[1], d[3])) / float64(max(d[1], d[3]))
	return float32(math.Sqrt(float64(across * down)))
}
