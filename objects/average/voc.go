package average

import (
	"cmp"
	"slices"

	"github.com/bnctl/bnctl/objects"
)

// VOCFigures are the figures of PASCAL VOC at an overlap of 0.5, as means over the classes that have objects.
// They are -1 if no class has objects.
type VOCFigures struct {
	AP50       float64    `json:"ap50"`          // area below the precision-recall curve (VOC 2010)
	AP50Points float64    `json:"ap50_11points"` // mean precision at recalls of 0, 0.1 ... 1 (VOC 2007)
	Classes    []VOCClass `json:"classes"`
}

// VOCClass has the figures of one class. Curve is the precision-recall curve, with a point for each detection
// that counts. F1 is the largest harmonic mean of precision and recall on the curve, which is reached if
// detections have a score of Threshold or more. Recalls has a point for each recall of 0, 0.01 ... 1 that is
// reached: the highest precision at that recall or a higher one, and the score there.
type VOCClass struct {
	Name       string  `json:"name"`
	AP50       float64 `json:"ap50"`
	AP50Points float64 `json:"ap50_11points"`
	Objects    int     `json:"objects"` // number of objects, without difficult ones and crowds
	F1         float64 `json:"f1"`
	Threshold  float64 `json:"threshold"`
	Curve      []Point `json:"-"`
	Recalls    []Point `json:"curve"`
}

// Point is a point of a precision-recall curve: the detections with a score of Score or more.
type Point struct {
	Recall    float64 `json:"recall"`
	Precision float64 `json:"precision"`
	Score     float64 `json:"score"`

	hits int
}

// VOC computes VOC's figures of detections on a set. A detection is compared with the object of its
// class that it overlaps most. It is a hit if the overlap is at least 0.5 and no earlier detection has hit
// the object. Detections of difficult objects do not count.
func VOC(s *objects.Set, detections []Detection) *VOCFigures {
	f := &VOCFigures{}
	var area, points mean
	for c, pairs := range pairsOf(s, detections) {
		class := vocClass(s.Classes[c], pairs)
		if class.Objects > 0 {
			area.add(class.AP50)
			points.add(class.AP50Points)
		}
		f.Classes = append(f.Classes, class)
	}
	f.AP50, f.AP50Points = area.value(), points.value()
	return f
}

// vocClass computes the figures of one class.
func vocClass(name string, pairs []pair) VOCClass {
	c := VOCClass{Name: name, AP50: -1, AP50Points: -1, Recalls: []Point{}}
	var matches []match
	for _, p := range pairs {
		for _, o := range p.objects {
			if !ignoredByVOC(o) {
				c.Objects++
			}
		}
		matches = append(matches, vocMatches(p)...)
	}
	if c.Objects == 0 {
		return c
	}
	c.Curve = curveOf(matches, c.Objects)
	c.AP50, c.AP50Points = areaBelow(c.Curve), elevenPoints(c.Curve, c.Objects)
	c.F1, c.Threshold = bestThreshold(c.Curve)
	c.Recalls = recallsOf(c.Curve, c.Objects)
	return c
}

func ignoredByVOC(o objects.Object) bool { return o.Difficult || o.Crowd }

// vocMatches matches the detections of one picture (VOCevaldet.m).
func vocMatches(p pair) (matches []match) {
	hit := make([]bool, len(p.objects))
	for _, d := range p.detections {
		best, most := -1, 0.0
		for g, o := range p.objects {
			if v := overlap(d.Box, o.Box, false); v > most {
				best, most = g, v
			}
		}
		m := match{score: d.Score}
		switch {
		case most < 0.5:
		case ignoredByVOC(p.objects[best]):
			m.ignore = true
		case !hit[best]:
			m.hit, hit[best] = true, true
		}
		matches = append(matches, m)
	}
	return matches
}

// curveOf returns the precision-recall curve of the matches in all pictures.
func curveOf(matches []match, objects int) (curve []Point) {
	slices.SortStableFunc(matches, func(a, b match) int { return cmp.Compare(b.score, a.score) })
	hits, found := 0, 0
	for _, m := range matches {
		if m.ignore {
			continue
		}
		found++
		if m.hit {
			hits++
		}
		recall, precision := float64(hits)/float64(objects), float64(hits)/float64(found)
		curve = append(curve, Point{recall, precision, m.score, hits})
	}
	return curve
}

// areaBelow returns the area below the curve. Each precision is first raised to the highest precision at the
// same or a higher recall (VOCap.m of VOC 2010).
func areaBelow(curve []Point) (area float64) {
	highest := 0.0
	for i := len(curve) - 1; i >= 0; i-- {
		highest = max(highest, curve[i].Precision)
		before := 0.0
		if i > 0 {
			before = curve[i-1].Recall
		}
		area += float64((curve[i].Recall - before) * highest)
	}
	return area
}

// elevenPoints returns the mean of eleven precisions: for each of 0, 0.1 ... 1, the highest precision at this
// recall or a higher one (VOC 2007). Recalls are compared as integers.
func elevenPoints(curve []Point, objects int) float64 {
	sum := 0.0
	for tenth := range 11 {
		highest := 0.0
		for _, p := range curve {
			if 10*p.hits >= tenth*objects {
				highest = max(highest, p.Precision)
			}
		}
		sum += highest
	}
	return sum / 11
}

// recallsOf returns the points of VOCClass.Recalls. Of points with equal precision it takes the first, which
// has the highest score.
func recallsOf(curve []Point, objects int) []Point {
	all, best := make([]Point, 0, 101), Point{}
	at := len(curve) - 1
	for hundredth := 100; hundredth >= 0; hundredth-- {
		for ; at >= 0 && 100*curve[at].hits >= hundredth*objects; at-- {
			if curve[at].Precision >= best.Precision {
				best = curve[at]
			}
		}
		if best.Precision > 0 {
			all = append(all, Point{Recall: float64(hundredth) / 100, Precision: best.Precision, Score: best.Score})
		}
	}
	slices.Reverse(all)
	return all
}

// bestThreshold returns the largest harmonic mean of precision and recall, and the score from which on
// detections must be kept to reach it. If several scores reach it, it returns the highest. Detections with
// equal scores are kept together.
func bestThreshold(curve []Point) (f1, threshold float64) {
	for i, p := range curve {
		if i+1 < len(curve) && curve[i+1].Score == p.Score || p.hits == 0 {
			continue
		}
		if f := 2 * p.Precision * p.Recall / (p.Precision + p.Recall); f > f1 {
			f1, threshold = f, p.Score
		}
	}
	return f1, threshold
}
