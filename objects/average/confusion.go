package average

import (
	"cmp"
	"slices"

	"github.com/bnctl/bnctl/objects"
)

// Confusion counts objects by their class and by the class of their detection. Counts has a row for each
// class of objects and one for the background, and a column for each class of detections and one for the
// background: a detection without an object, and an object without a detection.
type Confusion struct {
	Score   float64 `json:"score"`   // detections have at least this score
	Overlap float64 `json:"overlap"` // least overlap of an object and its detection
	Counts  [][]int `json:"counts"`
}

// Confuse pairs objects with detections of any class: pairs with the largest overlap come first; of equal
// ones the pair with the higher score, and then the earlier object. An object and a detection are in one
// pair at most. Crowds and difficult objects, and detections that overlap one of them at least by
// overlap and have no other object, do not count.
func Confuse(s *objects.Set, all []Detection, score, overlap float64) *Confusion {
	c := &Confusion{Score: score, Overlap: overlap, Counts: make([][]int, len(s.Classes)+1)}
	for i := range c.Counts {
		c.Counts[i] = make([]int, len(s.Classes)+1)
	}
	found := make([][]Detection, len(s.Pictures))
	for _, d := range all {
		if d.Score >= score {
			found[d.Picture] = append(found[d.Picture], d)
		}
	}
	for i, p := range s.Pictures {
		slices.SortStableFunc(found[i], byScore)
		c.add(p.Objects, found[i])
	}
	return c
}

// contact is an object and a detection that overlap.
type contact struct {
	object, detection int
	overlap           float64
}

// add counts one picture. Detections are sorted by score.
func (c *Confusion) add(truth []objects.Object, found []Detection) {
	background := len(c.Counts) - 1
	var all []contact
	ignored := make([]bool, len(found))
	for d, f := range found {
		for g, o := range truth {
			switch v := overlap(f.Box, o.Box, o.Crowd); {
			case v < c.Overlap:
			case ignoredByVOC(o):
				ignored[d] = true
			default:
				all = append(all, contact{g, d, v})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b contact) int { return cmp.Compare(b.overlap, a.overlap) })
	seen, hit := make([]bool, len(truth)), make([]bool, len(found))
	for _, p := range all {
		if !seen[p.object] && !hit[p.detection] {
			seen[p.object], hit[p.detection] = true, true
			c.Counts[truth[p.object].Class][found[p.detection].Class]++
		}
	}
	for g, o := range truth {
		if !seen[g] && !ignoredByVOC(o) {
			c.Counts[o.Class][background]++
		}
	}
	for d, f := range found {
		if !hit[d] && !ignored[d] {
			c.Counts[background][f.Class]++
		}
	}
}
