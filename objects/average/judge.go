package average

import (
	"cmp"
	"slices"

	"github.com/bnctl/bnctl/objects"
)

// Judged is a picture with its detections, sorted by score, the highest first.
type Judged struct {
	Picture    int // index in the set
	Detections []Detection
	// Objects has for each detection the index of its object. It is -1 for a detection without an object, and
	// Ignored for a detection that does not count.
	Objects []int
	Missed  []int // indices of the objects without a detection
}

// Ignored is the element of Judged.Objects for a detection that matches a crowd or a difficult object.
const Ignored = -2

// Faults returns the number of missed objects in picture p, the number of detections without an object, and
// the number of detections with an object of another class.
func (j *Judged) Faults(p *objects.Picture) (missed, invented, confused int) {
	for i, o := range j.Objects {
		switch {
		case o == -1:
			invented++
		case o >= 0 && p.Objects[o].Class != j.Detections[i].Class:
			confused++
		}
	}
	return len(j.Missed), invented, confused
}

// Judge pairs the objects of each picture with detections of any class that have at least the given score. An
// object or a detection is in one pair at most. Pairs are formed in the order of their overlap, the largest
// first; of equal overlaps the detection with the higher score, and then the earlier object. Crowds and
// difficult objects do not count. A detection that gets no object does not count either if it overlaps one of
// these at least by overlap.
func Judge(s *objects.Set, detections []Detection, score, overlap float64) []Judged {
	judged := make([]Judged, len(s.Pictures))
	for _, d := range detections {
		if d.Score >= score {
			judged[d.Picture].Detections = append(judged[d.Picture].Detections, d)
		}
	}
	for i := range judged {
		judged[i].Picture = i
		slices.SortStableFunc(judged[i].Detections, byScore)
		judged[i].pair(s.Pictures[i].Objects, overlap)
	}
	return judged
}

// contact is an object and a detection that overlap.
type contact struct {
	object, detection int
	overlap           float64
}

// pair finds the object of each detection. minimum is the smallest overlap of a pair. Detections are sorted
// by score.
func (j *Judged) pair(truth []objects.Object, minimum float64) {
	var all []contact
	j.Objects = make([]int, len(j.Detections))
	for d, f := range j.Detections {
		j.Objects[d] = -1
		for g, o := range truth {
			switch v := overlap(f.Box, o.Box, o.Crowd); {
			case v < minimum:
			case ignoredByVOC(o):
				j.Objects[d] = Ignored
			default:
				all = append(all, contact{g, d, v})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b contact) int { return cmp.Compare(b.overlap, a.overlap) })
	seen := make([]bool, len(truth))
	for _, p := range all {
		if !seen[p.object] && j.Objects[p.detection] < 0 {
			seen[p.object], j.Objects[p.detection] = true, p.object
		}
	}
	for g, o := range truth {
		if !seen[g] && !ignoredByVOC(o) {
			j.Missed = append(j.Missed, g)
		}
	}
}
