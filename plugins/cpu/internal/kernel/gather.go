package kernel

import "slices"

// Order says where the weights of an output channel lie: value i is at[i]
// values away from the first that the channel could have, or nowhere if that is
// negative.
type Order struct {
	at    []int
	to    []int32 // the values as they follow each other in memory
	dense bool    // and side by side, without gaps
}

// NewOrder returns the order of weights that lie there.
func NewOrder(at []int) Order {
	to := sideBySide(at)
	if to != nil {
		return Order{at, to, true}
	}
	to = make([]int32, 0, len(at))
	for i, a := range at {
		if a >= 0 {
			to = append(to, int32(i))
		}
	}
	slices.SortStableFunc(to, func(i, j int32) int { return at[i] - at[j] })
	return Order{at, to, false}
}

// sideBySide returns the values as they follow each other, nil if there are gaps.
func sideBySide(at []int) []int32 {
	if len(at) == 0 {
		return nil
	}
	to, first := make([]int32, len(at)), slices.Min(at)
	if first < 0 {
		return nil
	}
	for i, a := range at { // 0 is a gap so far, i+1 means value i
		if a -= first; a >= len(at) || to[a] != 0 {
			return nil
		}
		to[a] = int32(i + 1)
	}
	for i := range to {
		to[i]--
	}
	return to
}

// gatherKernels is the assembly for blocks of size channels by size values.
type gatherKernels struct {
	lanes   int
	plain   func(dst *float32, width int, to *int32, src *float32, step int, blocks int)
	scaled  func(dst *float32, width int, to *int32, src *float32, step int, by *float64, blocks int)
	scatter func(dst *float32, step int, to *int32, src *float32, width int, blocks int)
}

// Gather sets dst, [values][width], to weights with a factor: value i of
// channel c is src[order.at[i] + c*step]. Channels from real on are 0; values
// that lie nowhere stay as they are.
func (s *Set) Gather(dst []float32, width, real int, src []float32, order Order, step int, factor Factor) {
	for c := 0; c < width; c += Lanes { // so few rows of src stay in the cache
		lanes := min(real-c, Lanes)
		for _, i := range order.to[s.gatherBlocks(dst, width, c, lanes, src, order, step, factor):] {
			row, from := dst[int(i)*width+c:][:min(width-c, Lanes)], order.at[i]+c*step
			if step == 1 {
				copy(row, src[from:from+lanes])
			} else {
				for j := range lanes {
					row[j] = src[from+j*step]
				}
			}
			factor.Apply(row[:lanes], c)
			clear(row[lanes:])
		}
	}
}

// gatherBlocks is Gather for lanes channels from c on, as far as there is
// assembly. It returns the number of values in memory that it has packed.
func (s *Set) gatherBlocks(dst []float32, width, c, lanes int, src []float32, order Order, step int,
	factor Factor) int {
	k := s.gathers
	if k == nil || !order.dense || lanes < Lanes || factor.Round != nil || len(order.to) < k.lanes {
		return 0
	}
	n := len(order.to)
	dst = dst[:n*width]
	src = src[order.at[order.to[0]]:][:(c+lanes-1)*step+n]
	for ; lanes > 0; c, lanes = c+k.lanes, lanes-k.lanes {
		if factor.By == nil {
			k.plain(&dst[c], 4*width, &order.to[0], &src[c*step], 4*step, n/k.lanes)
		} else {
			by := factor.By[c:][:k.lanes]
			k.scaled(&dst[c], 4*width, &order.to[0], &src[c*step], 4*step, &by[0], n/k.lanes)
		}
	}
	return n / k.lanes * k.lanes
}

// Scatter is Gather the other way: it sets dst[order.at[i] + c*step] to value i
// of channel c in src, [values][width], for the real channels. No two values may
// lie in one place.
func (s *Set) Scatter(dst []float32, order Order, step int, src []float32, width, real int) {
	for c := 0; c < real; c += Lanes { // so few rows of dst stay in the cache
		lanes := min(real-c, Lanes)
		for _, i := range order.to[s.scatterBlocks(dst, order, step, src, width, c, lanes):] {
			to := order.at[i] + c*step
			for _, v := range src[int(i)*width+c:][:lanes] {
				dst[to] = v
				to += step
			}
		}
	}
}

// scatterBlocks is to Scatter what gatherBlocks is to Gather.
func (s *Set) scatterBlocks(dst []float32, order Order, step int, src []float32, width, c, lanes int) int {
	k, n := s.gathers, len(order.to)
	if k == nil || !order.dense || lanes < Lanes || n < k.lanes {
		return 0
	}
	src = src[:n*width]
	dst = dst[order.at[order.to[0]]:][:(c+lanes-1)*step+n]
	for ; lanes > 0; c, lanes = c+k.lanes, lanes-k.lanes {
		k.scatter(&dst[c*step], 4*step, &order.to[0], &src[c], 4*width, n/k.lanes)
	}
	return n / k.lanes * k.lanes
}
