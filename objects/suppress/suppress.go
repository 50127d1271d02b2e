package suppress

import (
	"cmp"
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
	Before  int     // candidates of each class, the best; 0: all
	Most    int     // selected boxes of all classes, the best; 0: all
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
		selected = append(selected, choose(candidates, len(candidates), func(a, b int) bool {
			return overlap(boxes[a], boxes[b]) > o.Overlap
		})...)
	}
	sortByScore(selected, scores)
	if o.Most > 0 {
		selected = selected[:min(len(selected), o.Most)]
	}
	return selected
}

// sortByScore sorts indices by score, the highest first, and equal scores by index.
func sortByScore(indices []int, scores []float32) {
	slices.SortFunc(indices, func(a, b int) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b))
	})
}

// choose visits sorted candidates and returns at most most of them: those that no chosen one
// removes.
func choose(sorted []int, most int, removes func(chosen, candidate int) bool) []int {
	var chosen []int
	for _, c := range sorted {
		if len(chosen) == most {
			break
		}
		if !slices.ContainsFunc(chosen, func(a int) bool { return removes(a, c) }) {
			chosen = append(chosen, c)
		}
	}
	return chosen
}

// overlap returns the area in common divided by the area of the union; 0 if a box has no area.
func overlap(a, b Corners) float32 {
	left, right := max(a[0], b[0]), min(a[2], b[2])
	top, bottom := max(a[1], b[1]), min(a[3], b[3])
	if !(right > left) || !(bottom > top) {
		return 0
	}
	common := float32((right - left) * (bottom - top))
	areaA, areaB := float32((a[2]-a[0])*(a[3]-a[1])), float32((b[2]-b[0])*(b[3]-b[1]))
	union := float32(areaA+areaB) - common
	if !(areaA > 0) || !(areaB > 0) || !(union > 0) {
		return 0
	}
	return common / union
}
