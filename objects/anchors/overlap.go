package anchors

import (
	"math"

	"github.com/bnctl/bnctl/device/detection"
	"github.com/bnctl/bnctl/objects/cells"
	"github.com/bnctl/bnctl/tensor"
)

// These are limits of the overlap (IoU) in RetinaNet. If the overlap is leastOverlap or more, an object is
// assigned to an anchor. If it is below mostBackground, the anchor is background.
const (
	leastOverlap   = 0.5
	mostBackground = 0.4
)

// assignByOverlap returns for each slot the index of the object that is assigned to it, or a negative number,
// like torchvision's RetinaNet (Lin et al. 2017):
//
//   - An anchor gets the object that overlaps it most (IoU), if the overlap is at least leastOverlap; of
//     equal overlaps, the first object. An anchor with an overlap below mostBackground is background. Between
//     these limits an anchor has no loss.
//   - For each object, the anchors that overlap it most always get an object: the one that overlaps them
//     most.
//   - Background with a centre inside an ignored object has no loss.
//
// Overlaps are float32, rounded after each operation.
func (g *Grid) assignByOverlap(objects []cells.Object) []int {
	owner, best := make([]int, len(g.anchors)), make([]int, len(g.anchors))
	overlaps, closest := make([]float32, len(g.anchors)), make([]bool, len(g.anchors))
	for k, o := range objects {
		if b := box(o.Corners); !o.Ignored && b.area() > 0 {
			g.compete(k, b, best, overlaps, closest)
		}
	}
	for i, v := range overlaps {
		switch {
		case v >= leastOverlap || closest[i]:
			owner[i] = best[i]
		case v >= mostBackground:
			owner[i] = unknown
		default:
			owner[i] = background
		}
	}
	g.exclude(objects, owner)
	return owner
}

// compete compares object k, which has the box b, with the objects before it. It updates best and overlaps
// for the slots that object k overlaps more. It marks in closest the slots that overlap object k most.
func (g *Grid) compete(k int, b box, best []int, overlaps []float32, closest []bool) {
	of, most := make([]float32, len(g.anchors)), float32(0)
	for i, a := range g.anchors {
		of[i] = overlap(b, a)
		most = max(most, of[i])
		if of[i] > overlaps[i] {
			best[i], overlaps[i] = k, of[i]
		}
	}
	for i, v := range of {
		if v > 0 && v == most {
			closest[i] = true
		}
	}
}

// overlap returns the intersection over union of two boxes with an area.
func overlap(a, b box) float32 {
	across := max(0, min(a[2], b[2])-max(a[0], b[0]))
	down := max(0, min(a[3], b[3])-max(a[1], b[1]))
	common := float32(across * down)
	return common / (float32(a.area()+b.area()) - common)
}

// sides returns the centre, width and height of a box.
func (b box) sides() (x, y, w, h float64) { return detection.Sides(b) }

// offsets returns the numbers that RetinaNet predicts for a box: the offset of its centre divided by the
// sides of the anchor, and the logarithms of its sides divided by the sides of the anchor.
func offsets(anchor, b box) [4]float32 {
	ax, ay, aw, ah := anchor.sides()
	x, y, w, h := b.sides()
	return [4]float32{float32((x - ax) / aw), float32((y - ay) / ah), float32(tensor.Log(w / aw)),
		float32(tensor.Log(h / ah))}
}

// inSides returns the corners of a box relative to the centre of an anchor, in units of the
// anchor's sides.
func inSides(anchor, b box) [4]float32 {
	x, y, w, h := anchor.sides()
	return [4]float32{float32((float64(b[0]) - x) / w), float32((float64(b[1]) - y) / h),
		float32((float64(b[2]) - x) / w), float32((float64(b[3]) - y) / h)}
}

// aroundCell returns the anchors of a cell of RetinaNet, around the origin. There are three sizes: side, and
// side times 2^(1/3) and 2^(2/3), rounded down. For each size there are three ratios of height to width.
func aroundCell(side int) (list []box) {
	for _, ratio := range []float64{0.5, 1, 2} {
		tall := float32(math.Sqrt(ratio))
		for _, power := range []float64{0, 1. / 3, 2. / 3} {
			size := float32(int(float64(side) * math.Pow(2, power)))
			w := float32(math.RoundToEven(float64(float32(1/tall)*size) / 2))
			h := float32(math.RoundToEven(float64(float32(tall*size)) / 2))
			list = append(list, box{-w, -h, w, h})
		}
	}
	return list
}
