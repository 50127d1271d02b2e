package main

// winogradgradient writes the transform of tiles of a result's gradient, and
// the way back from sums of products to the gradients of kernels.
func winogradgradient(f *file) {
	for _, w := range winogradForms() {
		winogradSpreadOut(f, w)
		winogradTaps(f, w)
	}
}

// winogradSpreadOut transforms adjacent tiles of adjacent pixels: first their columns,
// which fill 24 registers at most, then the rows of the result.
func winogradSpreadOut(f *file, w winogradForm) {
	f.function(w.name("Gradient"), "v *float32, vFreq int, vTile int, in *float32, rowStep int, colStep int, "+
		"tileStep int, tiles int, vectors int")
	n := f.numbers(singles, 31, free, w.powers(w.Side/2+1)...)
	f.eachVector(tileParams{"in", "v", "vFreq", "vTile"}, w.Side, func() {}, func() {
		spare := w.Tile() * w.Side
		for j := range w.Side {
			y := registers(spare-1, w.Side)
			y[0], y[w.Side-1] = j, spare-w.Side+j
			for i, r := range y {
				f.loadGrid(r, i, j)
			}
			w.points(n, y, func(k int) int { return k*w.Side + j }, spare+2)
		}
		for i := range w.Tile() {
			y, value := registers(i*w.Side, w.Side), func(k int) int { return spare + k }
			w.points(n, y, value, spare)
			f.storeValue(y[0])
			for k := 1; k < w.Tile()-1; k++ {
				f.storeValue(value(k))
			}
			f.storeValue(y[w.Side-1])
		}
	})
}

// points computes the values of polynomial y at the points other than 0 and infinity. value(k) is the
// register for the value at point k, and odd is a free register.
func (w winogradForm) points(n *numbers, y []int, value func(k int) int, odd int) {
	for i, p := range w.Pairs {
		plus, minus := value(1+2*i), value(2+2*i)
		first, second := y[0], y[1]
		if w.Side == 4 {
			n.add(minus, first, p*p, y[2])
			n.add(odd, second, p*p, y[3])
			first, second = minus, odd
		}
		n.add(plus, first, p, second)
		n.add(minus, first, -p, second)
	}
}

// winogradTaps computes the elements of kernels in float64, two kernels at a time and up to three
// rows of a kernel.
func winogradTaps(f *file, w winogradForm) {
	f.function(w.name("Taps"), "taps *float32, tapStep int, sums *float32, sumFreq int, count int")
	const at, taps, tapStep, count = 12, 13, 14, 15
	size := w.Tile()
	x, spare := registers(3*size, size), 4*size
	n := f.numbers(doubles, 26, free, w.elementNumbers()...)
	f.loads("taps", taps, "tapStep", tapStep, "count", count)
	f.square("sums", "sumFreq", size)
	f.label("some")
	f.op("MOVD R%d, R%d", taps, at)
	for from := 0; from < w.Kernel; from += 3 {
		rows := registers(from, min(3, w.Kernel-from))
		for j := range size {
			for i, r := range x {
				f.loadWide(r, i, j)
			}
			w.elements(n, x, rows, spare, func(y int) int { return (y-from)*size + j }, func(int) {})
		}
		for _, y := range rows {
			w.elements(n, registers((y-from)*size, size), registers(0, w.Kernel), spare,
				func(int) int { return x[0] }, func(r int) {
					f.narrow(r, r)
					f.op("VST1.P [V%d.S2], (R%d)(R%d)", r, at, tapStep)
				})
		}
	}
	f.nextPair(size, taps, count)
}

// power returns p^k for pair i, times the factor of the pair.
func (w winogradForm) power(i, k int) float64 {
	v := w.Factor(1 + 2*i)
	for range k {
		v *= w.Pairs[i]
	}
	return v
}

// elementNumbers returns the constants for computing the elements of kernels.
func (w winogradForm) elementNumbers() []float64 {
	n := []float64{w.Factor(0)}
	for i := range w.Pairs {
		for k := range w.Kernel {
			n = append(n, w.power(i, k))
		}
	}
	return n
}

// elements computes the coefficients of kernels with the given indices. x has the values at the points, and
// is changed. register returns the register for a coefficient; when it is written, done is called. spare is
// the first of the free registers, one per pair.
func (w winogradForm) elements(n *numbers, x, indices []int, spare int, register func(k int) int,
	done func(r int)) {
	last := w.Kernel - 1
	for i := range w.Pairs {
		n.plus(spare+i, x[1+2*i], x[2+2*i])
		n.minus(x[1+2*i], x[1+2*i], x[2+2*i])
	}
	for _, k := range indices {
		acc := register(k)
		for i := range w.Pairs {
			of, v := spare+i, w.power(i, k)
			if k%2 == 1 {
				of = x[1+2*i]
			}
			switch {
			case i > 0:
				n.add(acc, acc, v, of)
			case k == 0:
				n.times(acc, w.Factor(0), x[0])
				n.add(acc, acc, v, of)
			case k == last:
				n.add(acc, x[w.Tile()-1], v, of)
			default:
				n.times(acc, v, of)
			}
		}
		done(acc)
	}
}
