package convolution

// A line is a row of the result, or all of a small image. A tap with an input offset of an even number of
// pixels uses the same pairs as the tap at offset 0, starting some pairs later. Taps with odd offsets use
// different pairs:
//
// 	input    x0 x1 x2 x3 x4 x5
// 	even     (x0 x1)(x2 x3)(x4 x5)       columns 0 and 2 of the kernel
// 	odd         (x1 x2)(x3 x4)(x5 0)     column 1

// pairLines describes how the positions of a convolution's result form pairs for the weight gradient. The
// positions of a pair are neighbours in a line, which is a row of the result, or all of a small result.
// Lines of both operands are interleaved once for all taps that read them.
type pairLines struct {
	count, height       int // number of lines of an image of the result, and of an image of the input
	rows                int // number of rows of the kernel that read different lines
	step, lead, rowStep int // row i of the kernel and line y of the result read input line y*step-lead+i*rowStep
	pairs               int // number of pairs in a line of the result
	values              int // number of values that a tap reads at a position
	// begin has, for every column of the kernel, the index of the first pair that it reads in an interleaved
	// line of the input.
	begin []int
	// in and grad are the offsets of the runs of a line, as in kernel.PairsLine; inStep and
	// gradStep are the distances between lines, in values.
	in, grad         []int32
	inStep, gradStep int
	// padded reports that lines have few channels. They are then copied first, between padding on the left and
	// on the right.
	padded      bool
	left, right int
}

// lines returns the lines of the convolution. They depend only on its shape.
func (g *Geometry) lines() *pairLines {
	const small = 1024 // number of positions that all taps read, up to which an image is small
	switch {
	case g.narrow():
		return g.narrowLines()
	case g.oh*g.ow*g.taps <= small && (g.taps == 1 || g.ow%2 != 0):
		return g.wholeLines()
	}
	return g.rowLines()
}

// rowLines returns lines that are rows of the result.
func (g *Geometry) rowLines() *pairLines {
	l := &pairLines{count: g.oh, height: g.h, rows: g.Kernel[0], step: g.Stride[0], lead: g.Pad[0],
		rowStep: g.Dilation[0], values: g.cg, begin: make([]int, g.Kernel[1]), inStep: g.w * g.c}
	l.result(g, g.ow)
	if g.ow%2 != 0 {
		// The second value of a line's last pair is 0. Another column of the kernel reads a value of the input
		// there, so no two columns share pairs.
		for j := range l.begin {
			l.addColumns(g, j, j+1, 1)
		}
		return l
	}
	const two = 2
	for j := range min(two*g.Stride[1], g.Kernel[1]) {
		// This column shares pairs with the columns that start a whole number of pairs after it, for any
		// dilation.
		l.addColumns(g, j, g.Kernel[1], two*g.Stride[1])
	}
	return l
}

// result sets the offsets of the runs in a line of the result's gradient. The line has the given number of
// positions.
func (l *pairLines) result(g *Geometry, positions int) {
	l.pairs, l.gradStep = (positions+1)/2, positions*g.o
	for p := range 2 * l.pairs {
		l.grad = append(l.grad, offset(p < positions, p*g.o))
	}
}

// offset converts the index of a value to an offset in bytes. It returns -1 if the value is not inside.
func offset(inside bool, index int) int32 {
	if !inside {
		return -1
	}
	return int32(4 * index)
}

// addColumns adds the pairs that columns j, j+every and so on before end read. The pairs of
// each column begin a whole number of pairs after the pairs of the previous one.
func (l *pairLines) addColumns(g *Geometry, j, end, every int) {
	pair := 2 * g.Stride[1]
	first, start, last := j*g.Dilation[1]-g.Pad[1], len(l.in)/2, 0
	for ; j < end; j += every {
		last = (j*g.Dilation[1] - g.Pad[1] - first) / pair
		l.begin[j] = start + last
	}
	for p := range 2 * (l.pairs + last) {
		x := first + p*g.Stride[1]
		inside := x >= 0 && x < g.w && (g.ow%2 == 0 || p < g.ow)
		l.in = append(l.in, offset(inside, x*g.c))
	}
}

// narrowLines returns lines that are rows of the result, for images of few channels. A window reads a whole
// row of the kernel as one run of a padded line.
func (g *Geometry) narrowLines() *pairLines {
	l := &pairLines{count: g.oh, height: g.h, rows: g.Kernel[0], step: g.Stride[0], lead: g.Pad[0],
		rowStep: g.Dilation[0], values: g.Kernel[1] * g.c, begin: []int{0}, inStep: g.w * g.c,
		padded: true, left: g.Pad[1] * g.c, right: g.Pad[3] * g.c}
	l.result(g, g.ow)
	for p := range 2 * l.pairs {
		l.in = append(l.in, offset(p < g.ow, p*g.Stride[1]*g.c))
	}
	return l
}

// wholeLines returns a single line that is a whole image. Each tap has separate pairs.
func (g *Geometry) wholeLines() *pairLines {
	l := &pairLines{count: 1, height: 1, rows: 1, step: 1, rowStep: 1, values: g.cg}
	n := g.oh * g.ow
	l.result(g, n)
	for t := range g.taps {
		l.begin = append(l.begin, len(l.in)/2)
		for p := range 2 * l.pairs {
			at := int32(-1)
			if p < n {
				at = g.Input(p/g.ow, p%g.ow, t/g.Kernel[1], t%g.Kernel[1])
			}
			l.in = append(l.in, at)
		}
	}
	return l
}
