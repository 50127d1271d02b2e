package main

// winogradWeights transforms kernels in float64, two at a time.
func winogradWeights(f *file, w winogradForm) {
	f.function(w.name("Weights"), "u *float32, uFreq int, taps *float32, tapStep int, count int")
	const at, u, uFreq, count = 12, 13, 14, 15
	x, spare := registers(2*w.Kernel, w.Kernel), 3*w.Kernel
	result, plus, minus := spare+1, spare+2, spare+3
	n := f.numbers(doubles, 24, free, w.weightNumbers()...)
	f.loads("u", u, "uFreq", uFreq, "count", count)
	f.square("taps", "tapStep", w.Kernel)
	store := func(row, j, r int) {
		n.times(result, w.Factor(row)*w.Factor(j), r)
		f.narrow(result, result)
		f.op("VST1.P [V%d.S2], (R%d)(R%d)", result, at, uFreq)
	}
	// across stores the values that the polynomial of a row has at the points.
	across := func(row int, x []int) {
		store(row, 0, x[0])
		for i := range w.Pairs {
			w.split(n, i, x, plus, minus, spare)
			store(row, 1+2*i, plus)
			store(row, 2+2*i, minus)
		}
		store(row, w.Tile()-1, x[w.Kernel-1])
	}
	edge := func(row, y int) {
		for j, r := range x {
			f.loadWide(r, y, j)
		}
		across(row, x)
	}
	f.label("some")
	f.op("MOVD R%d, R%d", u, at)
	edge(0, 0)
	for i := range w.Pairs {
		for j := range w.Kernel {
			for y, r := range x {
				f.loadWide(r, y, j)
			}
			w.split(n, i, x, j, w.Kernel+j, spare)
		}
		across(1+2*i, registers(0, w.Kernel))
		across(2+2*i, registers(w.Kernel, w.Kernel))
	}
	edge(w.Tile()-1, w.Kernel-1)
	f.nextPair(w.Kernel, u, count)
}

// weightNumbers returns the constants for transforming kernels.
func (w winogradForm) weightNumbers() (n []float64) {
	for _, p := range w.Pairs {
		n = append(n, p*p, p)
	}
	for i := range w.Tile() {
		for j := range w.Tile() {
			n = append(n, w.Factor(i)*w.Factor(j))
		}
	}
	return n
}

// split sets plus and minus to the values at a pair of points of the polynomial x; odd is free.
func (w winogradForm) split(n *numbers, pair int, x []int, plus, minus, odd int) {
	p := w.Pairs[pair]
	if w.Kernel == 3 {
		n.add(minus, x[0], p*p, x[2])
		n.times(odd, p, x[1])
		n.plus(plus, minus, odd)
		n.minus(minus, minus, odd)
		return
	}
	n.add(minus, x[2], p*p, x[4])
	n.add(plus, x[0], p*p, minus)
	n.add(odd, x[1], p*p, x[3])
	n.times(odd, p, odd)
	n.minus(minus, plus, odd)
	n.plus(plus, plus, odd)
}
