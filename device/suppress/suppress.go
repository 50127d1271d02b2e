package suppress

import (
	"cmp"
	"math"
	"slices"
)

// Corners are the corners of a box: x1, y1, x2, y2, with x1 <= x2 and y1 <= y2.
type Corners [4]float32

// farthest is the largest coordinate of a box: areas of boxes with larger ones are infinite in float32.
const farthest = 1 << 60

// Limited returns the corners with coordinates in [-2^60, 2^60]. Infinite coordinates, of boxes that
// float32 cannot hold, become these limits; NaN remains.
func (c Corners) Limited() Corners {
	for i, v := range c {
		c[i] = max(-farthest, min(farthest, v))
	}
	return c
}

// Options limit the selected boxes.
type Options struct {
	Overlap float32 // remove boxes that overlap a selected one by more
	Score   float32 // candidates have a greater score
	Before  int     // only this many candidates of each class, the best, are used; 0: all
	Most    int     // only this many boxes of all classes, the best, are selected; 0: all
}

// Classwise returns the indices of the selected boxes of one picture, from the highest score to the
// lowest. Boxes of different classes do not remove each other (torchvision's batched_nms).
func Classwise(boxes []Corners, scores []float32, classes []int, o Options) []int {
	byClass := map[int][]int{}
	for i, s := range scores {
		if s > o.Score {
			byClass[classes[i]] = append(byClass[classes[i]], i)
		}
	}
	var selected []int
	for _, candidates := range byClass { // sorted below: the order of the map has no effect
		sortByScore(candidates, scores)
		if o.Before > 0 {
			candidates = candidates[:min(len(candidates), o.Before)]
		}
		selected = append(selected, choose(candidates, len(candidates), boxes, o.Overlap)...)
	}
	sortByScore(selected, scores)
	if o.Most > 0 {
		selected = selected[:min(len(selected), o.Most)]
	}
	return selected
}

// sortByScore sorts indices by score, the highest first, and equal scores by index. It sorts whole numbers of
// a score and its index, which is faster than comparing two scores and two indices.
func sortByScore(indices []int, scores []float32) {
	if len(scores) > math.MaxUint32 {
		slices.SortFunc(indices, func(a, b int) int {
			return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b))
		})
		return
	}
	keys := make([]uint64, len(indices))
	for i, n := range indices {
		keys[i] = uint64(rank(scores[n]))<<32 | uint64(n)
	}
	slices.Sort(keys)
	for i, k := range keys {
		indices[i] = int(uint32(k))
	}
}

// rank returns a smaller number for a higher score, and the largest numbers for NaN. -0 has the rank of 0.
func rank(score float32) uint32 {
	if score != score {
		return math.MaxUint32
	}
	b := math.Float32bits(score + 0)
	if b>>31 != 0 {
		return b
	}
	return ^b &^ (1 << 31)
}

// choose visits sorted candidates and returns those that no chosen one overlaps by more than limit, up to a
// maximum count.
func choose(sorted []int, maxCount int, boxes []Corners, limit float32) []int {
	if limit < 0 { // every overlap is greater than a negative limit
		return slices.Clone(sorted[:min(1, maxCount, len(sorted))])
	}
	chosen, strips := make([]int, 0, min(len(sorted), maxCount)), newStrips(sorted, boxes)
	defer strips.free()
	for i, c := range sorted {
		if len(chosen) == maxCount {
			break
		}
		if boxes[c].isSolid() {
			at := strips.cells[i]
			if strips.overlap(boxes[c], at, boxes, limit) {
				continue
			}
			strips.add(neighbour{at, int32(c)})
		}
		chosen = append(chosen, c)
	}
	return chosen
}

// isSolid reports whether c has an area.
func (c Corners) isSolid() bool { return c[2] > c[0] && c[3] > c[1] && c.area() > 0 }

func (c Corners) area() float32 { return float32((c[2] - c[0]) * (c[3] - c[1])) }

// cell is the smallest box of whole numbers around a box. Two boxes do not overlap if their cells do not,
// and cells are compared without a branch for each side.
type cell [4]int32

// cellBits is the number of bits of the largest whole number of a cell, without its sign.
const cellBits = 28

// farthestCell is the largest whole number of a cell.
const farthestCell = 1 << cellBits

// scaleOf returns a power of two. Corners multiplied by it use the whole range of the whole numbers in
// cells.
func scaleOf(sorted []int, boxes []Corners) float64 {
	largest := 0.0
	for _, c := range sorted {
		for _, v := range boxes[c] {
			if size := math.Abs(float64(v)); size <= math.MaxFloat32 {
				largest = max(largest, size)
			}
		}
	}
	_, exponent := math.Frexp(largest)
	return math.Ldexp(1, cellBits-exponent)
}

// cellOf returns the cell of a box with an area.
func cellOf(c Corners, scale float64) (at cell) {
	for i, v := range c {
		x := max(-farthestCell, min(farthestCell, float64(v)*scale))
		if i < 2 {
			at[i] = int32(math.Floor(x))
		} else {
			at[i] = int32(math.Ceil(x))
		}
	}
	return at
}
