package view

import (
	"math"
	"slices"
)

// bins is the maximum number of values that a series keeps.
const bins = 512

// series is a curve of any number of values that needs little memory: it stores means of neighbouring values.
type series struct {
	values  []float64
	perMean int // number of values in each mean; 0 means 1
	sum     float64
	count   int // number of values in sum
}

// add appends a value.
func (s *series) add(v float64) {
	if s.perMean = max(s.perMean, 1); v != v {
		return
	}
	s.sum, s.count = s.sum+v, s.count+1
	if s.count < s.perMean {
		return
	}
	s.values = append(s.values, s.sum/float64(s.count))
	s.sum, s.count = 0, 0
	if len(s.values) == bins {
		s.values, s.perMean = means(s.values, bins/2), 2*s.perMean
	}
}

// means divides values into n parts of equal length, and returns the mean of each. If there are at most n
// values, it returns values itself.
func means(values []float64, n int) []float64 {
	if len(values) <= n {
		return values
	}
	out := make([]float64, n)
	for i := range out {
		group := values[i*len(values)/n : (i+1)*len(values)/n]
		for _, v := range group {
			out[i] += v / float64(len(group))
		}
	}
	return out
}

// finite reports whether v is a number that can be drawn.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// chart draws values in the given columns and rows. The first row is the top one. A value that is not finite
// is shown as a cross.
func chart(values []float64, columns, rows int, g *glyphs) []string {
	values = means(values, columns)
	var numbers []float64
	for _, v := range values {
		if finite(v) {
			numbers = append(numbers, v)
		}
	}
	out := make([]string, rows)
	for _, v := range values {
		level := 0
		if finite(v) {
			level = levelOf(v, slices.Min(numbers), slices.Max(numbers), 8*rows)
		}
		for r := range out {
			cell := g.levels[min(max(level-8*(rows-1-r), 0), 8)]
			if level == 0 && r == rows-1 {
				cell = g.cross
			}
			out[r] += cell
		}
	}
	return out
}

// levelOf returns the height of a value, from 1 to levels. If all values are equal, it returns half of
// levels.
func levelOf(v, low, high float64, levels int) int {
	if span := high - low; span > 0 && finite(span) {
		return 1 + int((v-low)/span*float64(levels-1)+0.5)
	}
	return levels / 2
}
