package average

import (
	"cmp"
	"slices"
	"sort"

	"github.com/bnctl/bnctl/objects"
)

// COCOFigures are COCO's twelve figures, as means over all classes that have objects. A figure is -1 if there
// is no object for it, for example APSmall of a set without small objects.
type COCOFigures struct {
	AP       float64 `json:"ap"` // mean over overlaps of 0.50, 0.55 ... 0.95
	AP50     float64 `json:"ap50"`
	AP75     float64 `json:"ap75"`
	APSmall  float64 `json:"ap_small"` // objects with an area up to 32 x 32
	APMedium float64 `json:"ap_medium"`
	APLarge  float64 `json:"ap_large"` // objects from 96 x 96
	AR1      float64 `json:"ar1"`      // average recall with at most one detection per picture and class
	AR10     float64 `json:"ar10"`
	AR100    float64 `json:"ar100"`
	ARSmall  float64 `json:"ar_small"`
	ARMedium float64 `json:"ar_medium"`
	ARLarge  float64 `json:"ar_large"`

	Classes []COCOClass `json:"classes"`
}

// COCOClass has the figures of one class. A figure without an object is -1.
type COCOClass struct {
	Name  string  `json:"name"`
	AP    float64 `json:"ap"`
	AP50  float64 `json:"ap50"`
	AR100 float64 `json:"ar100"`
}

// The parameters of COCO's evaluation.
var (
	overlaps  = linspace(0.5, 0.95, 10)
	recalls   = linspace(0, 1, 101)
	areas     = [][2]float64{{0, 1e10}, {0, 32 * 32}, {32 * 32, 96 * 96}, {96 * 96, 1e10}}
	mostFound = []int{1, 10, 100} // maximum numbers of detections per picture and class
)

// epsilon is numpy.spacing(1). It is added to a denominator, so that a precision is not 0/0.
const epsilon = 0x1p-52

// linspace returns n numbers from first to last as numpy.linspace rounds them.
func linspace(first, last float64, n int) []float64 {
	step := (last - first) / float64(n-1)
	all := make([]float64, n)
	for i := range all {
		all[i] = float64(float64(i)*step) + first
	}
	all[n-1] = last
	return all
}

// COCO computes COCO's figures of detections on a set. Crowds and difficult objects are neither hits
// nor misses. Several detections may match the same crowd.
func COCO(s *objects.Set, detections []Detection) *COCOFigures {
	e := &cocoEvaluation{}
	for _, pairs := range pairsOf(s, detections) {
		e.classes = append(e.classes, evaluateClass(pairs))
	}
	f := &COCOFigures{AP: e.precision(0, overlaps), AP50: e.precision(0, overlaps[:1]),
		AP75: e.precision(0, overlaps[5:6]), APSmall: e.precision(1, overlaps), APMedium: e.precision(2, overlaps),
		APLarge: e.precision(3, overlaps), AR1: e.recall(0, 0), AR10: e.recall(0, 1), AR100: e.recall(0, 2),
		ARSmall: e.recall(1, 2), ARMedium: e.recall(2, 2), ARLarge: e.recall(3, 2)}
	for c, name := range s.Classes {
		one := &cocoEvaluation{e.classes[c : c+1]}
		f.Classes = append(f.Classes, COCOClass{name, one.precision(0, overlaps), one.precision(0, overlaps[:1]),
			one.recall(0, 2)})
	}
	return f
}

// cocoClass has the results of a class, by range of object areas and by overlap.
type cocoClass struct {
	precision [4][10][]float64 // with up to 100 detections; one value for each of recalls; nil without objects
	recall    [4][3][10]float64
}

type cocoEvaluation struct{ classes []cocoClass }

// precision returns the mean precision over classes, recalls and the given overlaps, which must be
// consecutive.
func (e *cocoEvaluation) precision(area int, indices []float64) float64 {
	var m mean
	first := slices.Index(overlaps, indices[0])
	for _, c := range e.classes {
		for t := first; t < first+len(indices); t++ {
			for _, p := range c.precision[area][t] {
				m.add(p)
			}
		}
	}
	return m.value()
}

// recall returns the mean recall over classes and overlaps.
func (e *cocoEvaluation) recall(area, limit int) float64 {
	var m mean
	for _, c := range e.classes {
		for t := range overlaps {
			if c.precision[area][t] != nil {
				m.add(c.recall[area][limit][t])
			}
		}
	}
	return m.value()
}

// mean is the mean of the values that were added. It is -1 if none was added.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(v float64) { m.sum, m.n = m.sum+v, m.n+1 }

func (m *mean) value() float64 {
	if m.n == 0 {
		return -1
	}
	return m.sum / float64(m.n)
}

// evaluateClass matches the detections of a class with objects in all pictures, and computes the curves from
// the matches.
func evaluateClass(pairs []pair) (c cocoClass) {
	last := len(mostFound) - 1
	tables := make([][][]float64, len(pairs))
	for i, p := range pairs {
		tables[i] = overlapsOf(p)
	}
	for a, area := range areas {
		for t, threshold := range overlaps {
			var matches []match
			objects := 0
			for i, p := range pairs {
				m, n := matchPicture(p, tables[i], area, threshold)
				matches, objects = append(matches, m...), objects+n
			}
			if objects == 0 {
				continue
			}
			for k, most := range mostFound {
				precision, recall := accumulate(matches, most, objects)
				c.recall[a][k][t] = recall
				if k == last {
					c.precision[a][t] = precision
				}
			}
		}
	}
	return c
}

// overlapsOf returns the overlaps of the detections that count: a row for each detection, with an overlap for
// each object.
func overlapsOf(p pair) [][]float64 {
	table := make([][]float64, min(len(p.detections), mostFound[len(mostFound)-1]))
	for d := range table {
		for _, o := range p.objects {
			table[d] = append(table[d], overlap(p.detections[d].Box, o.Box, o.Crowd))
		}
	}
	return table
}

// match is the result of one detection.
type match struct {
	score  float64
	rank   int // index among the detections of its picture, by score
	hit    bool
	ignore bool // neither a hit nor a miss
}

// matchPicture matches the detections of one picture, the highest score first. Each is matched with the
// object that it overlaps most (evaluateImg of cocoeval.py). It also returns the number of objects that
// count.
func matchPicture(p pair, table [][]float64, area [2]float64, threshold float64) (matches []match,
	count int) {
	order, ignored := sortIgnored(p.objects, area)
	for _, g := range order {
		if !ignored[g] {
			count++
		}
	}
	matched := make([]bool, len(p.objects))
	for d, row := range table {
		found := p.detections[d]
		best := bestObject(p.objects, row, order, ignored, matched, threshold)
		m := match{score: found.Score, rank: d}
		if best >= 0 {
			matched[best] = true
			m.hit, m.ignore = true, ignored[best]
		} else {
			size := found.Box.Area()
			m.ignore = size < area[0] || size > area[1]
		}
		matches = append(matches, m)
	}
	return matches, count
}

// sortIgnored returns the indices of objects, sorted so that ignored objects are last. ignored reports for
// each object whether it is ignored.
func sortIgnored(list []objects.Object, area [2]float64) (order []int, ignored []bool) {
	for i, o := range list {
		order = append(order, i)
		ignored = append(ignored, o.Crowd || o.Difficult || o.Area < area[0] || o.Area > area[1])
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if ignored[a] == ignored[b] {
			return 0
		}
		if ignored[b] {
			return -1
		}
		return 1
	})
	return order, ignored
}

// bestObject returns the object that a detection overlaps most, or the last of several with equal overlaps.
// It returns -1 if all overlaps are below the threshold. It chooses an ignored object only if no other object
// reaches the threshold.
func bestObject(list []objects.Object, row []float64, order []int, ignored, matched []bool,
	threshold float64) int {
	best, most := -1, min(threshold, 1-1e-10)
	for _, g := range order {
		if matched[g] && !list[g].Crowd {
			continue
		}
		if best >= 0 && !ignored[best] && ignored[g] {
			break
		}
		if row[g] >= most {
			best, most = g, row[g]
		}
	}
	return best
}

// accumulate returns the interpolated precision at each of recalls, and the final recall. It uses at most
// the first limit detections of each picture.
func accumulate(matches []match, limit, objects int) (precision []float64, recall float64) {
	var sorted []match
	for _, m := range matches {
		if m.rank < limit {
			sorted = append(sorted, m)
		}
	}
	slices.SortStableFunc(sorted, func(a, b match) int { return cmp.Compare(b.score, a.score) })
	hits, misses := 0.0, 0.0
	curve, reached := make([]float64, len(sorted)), make([]float64, len(sorted))
	for i, m := range sorted {
		switch {
		case m.ignore:
		case m.hit:
			hits++
		default:
			misses++
		}
		curve[i], reached[i] = hits/(misses+hits+epsilon), hits/float64(objects)
		recall = reached[i]
	}
	for i := len(curve) - 1; i > 0; i-- {
		curve[i-1] = max(curve[i-1], curve[i])
	}
	precision = make([]float64, len(recalls))
	for i, r := range recalls {
		if at := sort.SearchFloat64s(reached, r); at < len(curve) {
			precision[i] = curve[at]
		}
	}
	return precision, recall
}
