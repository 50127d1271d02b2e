package convolution

// A convolution with dilation d sees, from one pixel, only pixels whose rows and columns
// have the same remainder by d. So it is d*d ordinary convolutions side by side, of the
// phases; for d = 2:
//
//	image          phase (0,0)   (0,1)   (1,0)   (1,1)
//	a b a b a b      a a a       b b b   c c c   d d d
//	c d c d c d      a a a       b b b   c c c   d d d
//	a b a b a b
//	c d c d c d

// phases are the ordinary convolutions that one with dilation is made of
// (class.Layer.Phase), without dilation one: itself. A phase is treated as an image is:
// those of image i have the numbers i*every*every and on, phase (py, px) that number plus
// py*every+px.
type phases struct {
	every         int // pixels of the image from one of a phase to the next
	high, width   int // of the largest phase
	rows, columns int // of tiles in a phase
}

// newPhases returns those of the convolution, with tiles of that side.
func newPhases(g *Geometry, side int) phases {
	p := phases{every: g.Dilation[0]}
	p.high, p.width = (g.h+p.every-1)/p.every, (g.w+p.every-1)/p.every
	p.rows, p.columns = (p.high+side-1)/side, (p.width+side-1)/side
	return p
}

// rowsOfAll returns the rows of tiles of all phases of an image.
func (p *phases) rowsOfAll() int { return p.rows * p.every * p.every }

// imageOf returns the image to which phase q belongs.
func (p *phases) imageOf(q int) int { return q / (p.every * p.every) }

// first returns the row and the column of the image where phase q begins.
func (p *phases) first(q int) (y, x int) { return q / p.every % p.every, q % p.every }

// size returns how much of phase q lies in the image.
func (k *winograd) size(q int) (high, width int) {
	y, x := k.first(q)
	return (k.g.h - y + k.every - 1) / k.every, (k.g.w - x + k.every - 1) / k.every
}

// position returns where pixel (y, x) of phase q lies in the image.
func (k *winograd) position(q, y, x int) int {
	top, left := k.first(q)
	return (top+k.every*y)*k.g.w + left + k.every*x
}

// sideBySide calls do for pixels [x0, x1) of row y of phase q, for those at once that lie
// side by side in the image: the first of these, its position in the image, and their number.
func (k *winograd) sideBySide(q, y, x0, x1 int, do func(x, at, count int)) {
	count := 1
	if k.every == 1 {
		count = x1 - x0
	}
	for x := x0; x < x1; x += count {
		do(x, k.position(q, y, x), count)
	}
}
