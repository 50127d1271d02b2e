package protocol

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// Best returns the n classes with the highest values of one row. Of equal values the lower class comes first.
// A class is returned as "value:index:label", or as "value:index" if it has no label, as Triton's extension
// "classification" defines it.
func Best(row []float32, n int, label func(class int) string) []string {
	order := make([]int, len(row))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(row[k], row[i]) })
	var best []string
	for _, i := range order[:min(n, len(order))] {
		s := strconv.FormatFloat(float64(row[i]), 'g', -1, 32) + ":" + strconv.Itoa(i)
		if l := label(i); l != "" {
			s = fmt.Sprintf("%s:%s", s, l)
		}
		best = append(best, s)
	}
	return best
}
