package average

import (
	"cmp"
	"slices"

	"github.com/bnctl/bnctl/objects"
)

// Detection is a box that a model found.
type Detection struct {
	Picture int // index in the set
	Class   int // index in the classes of the set
	Box     objects.Box
	Score   float64
}

// overlap returns the area that two boxes have in common, divided by the area of their union. If the object
// truth is a crowd, the divisor is the area of the detection instead (bbIou of cocoapi's maskApi.c).
func overlap(found, truth objects.Box, crowd bool) float64 {
	common := found.Intersect(truth)
	if common <= 0 {
		return 0
	}
	if crowd {
		return common / found.Area()
	}
	return common / (found.Area() + truth.Area() - common)
}

// pair has the objects and the detections of one class in one picture. Detections are sorted by score, the
// highest first.
type pair struct {
	objects    []objects.Object
	detections []Detection
}

// pairsOf returns for each class the pairs of all pictures, in the order of the pictures' numbers.
func pairsOf(s *objects.Set, detections []Detection) [][]pair {
	order := make([]int, len(s.Pictures))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.Pictures[a].ID, s.Pictures[b].ID) })
	position := make([]int, len(order))
	for at, i := range order {
		position[i] = at
	}
	classes := make([][]pair, len(s.Classes))
	for c := range classes {
		classes[c] = make([]pair, len(s.Pictures))
	}
	for i, p := range s.Pictures {
		for _, o := range p.Objects {
			to := &classes[o.Class][position[i]]
			to.objects = append(to.objects, o)
		}
	}
	for _, d := range detections {
		to := &classes[d.Class][position[d.Picture]]
		to.detections = append(to.detections, d)
	}
	for _, pairs := range classes {
		for _, p := range pairs {
			slices.SortStableFunc(p.detections, byScore)
		}
	}
	return classes
}

// byScore sorts the highest score first.
func byScore(a, b Detection) int { return cmp.Compare(b.Score, a.Score) }
