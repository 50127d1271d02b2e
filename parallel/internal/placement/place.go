package placement

import "fmt"

// Split cuts rows into contiguous slices for the replicas. Sizes differ by at
// most one, larger first: 10 over 4 is 3, 3, 2, 2. Empty slices are legal.
func Split(rows, replicas int) []int {
	sizes := make([]int, replicas)
	for i := range sizes {
		sizes[i] = rows / replicas
		if i < rows%replicas {
			sizes[i]++
		}
	}
	return sizes
}

// BySpeed gives each device a contiguous range of the replicas, in proportion to its speed
// and at least minimum[i] replicas. A device may get zero replicas if it is so slow that the
// others finish sooner without it. With nil speeds, all devices are equal.
func BySpeed(replicas, devices int, speed []float64, minimum []int) ([][]int, error) {
	if devices < 1 || devices > replicas {
		return nil, fmt.Errorf("%d devices for %d replicas: there must be at least one replica for each device",
			devices, replicas)
	}
	if speed == nil {
		return Ranges(Split(replicas, devices)), nil
	}
	counts := make([]int, devices)
	copy(counts, minimum)
	left := replicas
	for _, n := range counts {
		left -= n
	}
	for range left { // each further replica goes to the device that finishes it first
		best := 0
		for i := range counts {
			if float64(counts[i]+1)/speed[i] < float64(counts[best]+1)/speed[best] {
				best = i
			}
		}
		counts[best]++
	}
	return Ranges(counts), nil
}

// ByCounts gives device i a contiguous range of counts[i] replicas.
func ByCounts(replicas int, counts []int) ([][]int, error) {
	total := 0
	for i, n := range counts {
		if n < 0 {
			return nil, fmt.Errorf("placement gives device %d %d replicas", i, n)
		}
		total += n
	}
	if total != replicas {
		return nil, fmt.Errorf("placement covers %d of %d replicas", total, replicas)
	}
	return Ranges(counts), nil
}

// Ranges returns contiguous ranges with these numbers of replicas, starting at 0.
func Ranges(counts []int) [][]int {
	out, next := make([][]int, len(counts)), 0
	for i, n := range counts {
		for range n {
			out[i] = append(out[i], next)
			next++
		}
	}
	return out
}
