package average

import "github.com/bnctl/bnctl/objects"

// ConfusedScore and ConfusedOverlap are the limits for a confusion matrix: the default score of predict, and
// VOC's overlap.
const ConfusedScore, ConfusedOverlap = 0.3, 0.5

// Confusion counts objects by their class and by the class of their detection. Counts has a
// row for each class of objects, and a column for each class of detections. The last row
// counts detections without an object, and the last column objects without a detection.
type Confusion struct {
	Score   float64 `json:"score"`   // only detections with at least this score are counted
	Overlap float64 `json:"overlap"` // an object and its detection overlap at least this much
	Counts  [][]int `json:"counts"`
}

// Confuse returns the confusion matrix of the objects and detections that Judge pairs.
func Confuse(s *objects.Set, detections []Detection, score, overlap float64) *Confusion {
	background := len(s.Classes)
	c := &Confusion{Score: score, Overlap: overlap, Counts: make([][]int, background+1)}
	for i := range c.Counts {
		c.Counts[i] = make([]int, background+1)
	}
	for _, j := range Judge(s, detections, score, overlap) {
		truth := s.Pictures[j.Picture].Objects
		for _, g := range j.Missed {
			c.Counts[truth[g].Class][background]++
		}
		for d, g := range j.Objects {
			switch found := j.Detections[d].Class; {
			case g >= 0:
				c.Counts[truth[g].Class][found]++
			case g != Ignored:
				c.Counts[background][found]++
			}
		}
	}
	return c
}
