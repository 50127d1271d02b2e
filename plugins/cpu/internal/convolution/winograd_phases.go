package convolution

// A convolution with dilation d reads, from one pixel, only pixels with rows and columns of
// the same remainder modulo d. So it consists of d*d ordinary convolutions, one for each
// phase; for d = 2:
//
// 	image          phase (0,0)   (0,1)   (1,0)   (1,1)
// 	a b a b a b      a a a       b b b   c c c   d d d
// 	c d c d c d      a a a       b b b   c c c   d d d
// 	a b a b a b
// 	c d c d c d

// phases are the ordinary convolutions that a convolution with dilation consists of
// (class.Layer.Phase). Without dilation there is one. A phase is treated like an image: the phases of
// image i are numbered from i*every*every on, and phase (py, px) has that number plus py*every+px.
type phases struct {
	every         int // distance in the image between neighbouring pixels of a phase: the dilation
	high, width   int // size of the largest phase
	rows, columns int // rows and columns of tiles in a phase
}

// newPhases returns the phases of a convolution, with tiles of the given side.
func newPhases(g *Geometry, side int) phases {
	p := phases{every: g.Dilation[0]}
	p.high, p.width = (g.h+p.every-1)/p.every, (g.w+p.every-1)/p.every
	p.rows, p.columns = (p.high+side-1)/side, (p.width+side-1)/side
	return p
}

// rowsOfAll returns the number of rows of tiles in all phases of an image.
func (p *phases) rowsOfAll() int { return p.rows * p.every * p.every }

// imageOf returns the image that phase q belongs to.
func (p *phases) imageOf(q int) int { return q / (p.every * p.every) }

// first returns the row and the column of the image at which phase q begins.
func (p *phases) first(q int) (y, x int) { return q / p.every % p.every, q % p.every }

// size returns the size of the part of phase q inside the image.
func (k *winograd) size(q int) (high, width int) {
	y, x := k.first(q)
	return (k.g.h - y + k.every - 1) / k.every, (k.g.w - x + k.every - 1) / k.every
}

// position returns the position in the image of pixel (y, x) of phase q.
func (k *winograd) position(q, y, x int) int {
	top, left := k.first(q)
	return (top+k.every*y)*k.g.w + left + k.every*x
}

// sideBySide divides pixels [x0, x1) of row y of phase q into ranges that are contiguous in the image. It
// calls do for each range with its first pixel, the position of that pixel in the image, and the number of
// pixels.
func (k *winograd) sideBySide(q, y, x0, x1 int, do func(x, position, count int)) {
	count := 1
	if k.every == 1 {
		count = x1 - x0
	}
	for x := x0; x < x1; x += count {
		do(x, k.position(q, y, x), count)
	}
}
