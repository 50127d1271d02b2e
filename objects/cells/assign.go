package cells

import "math"

// Object is an annotated object of an input, with the corners x1, y1, x2, y2 of its box in pixels.
// Ignored objects are neither objects nor background.
type Object struct {
	Corners [4]float32
	Class   int
	Ignored bool
}

// These are values of an assignment. Other values are the index of the object that a cell
// is assigned to.
const (
	background = -1 // no object
	unknown    = -2 // an ignored object, which has no loss
)

// These are the limits of assign. A map is used for boxes with a longer side of low to high cells. The
// finest map has no lower limit, and the coarsest no upper one. The ranges of neighbouring maps
// overlap, so that no size is on the border between two maps.
const (
	low, high = 3, 12
	radius    = 1.5 // cells around the centre of a box, along both axes
)

// assign returns the index of the object that each cell is assigned to, or background or
// unknown. Like FCOS (Tian et al. 2019), it needs no predictions:
//
//   - An object gets the cells with a centre inside its box and within radius of its centre, on each map for
//     its size. It always gets the cell that contains its centre on the map that fits best.
//   - A cell in several objects is assigned to the one with the smallest area; of equal areas, to the first.
//   - A cell without an object is unknown if its centre is inside an ignored object.
func (g *Grid) assign(objects []Object) []int {
	owner, areas := make([]int, len(g.cells)), make([]float32, len(g.cells))
	for i := range owner {
		owner[i] = background
	}
	for k, o := range objects {
		if !o.Ignored && o.area() > 0 {
			g.claim(k, o, owner, areas)
		}
	}
	for _, o := range objects {
		if o.Ignored {
			g.exclude(o, owner)
		}
	}
	return owner
}

func (o *Object) area() float32 {
	return float32((o.Corners[2] - o.Corners[0]) * (o.Corners[3] - o.Corners[1]))
}

// claim assigns cells to object k.
func (g *Grid) claim(k int, o Object, owner []int, areas []float32) {
	side := max(o.Corners[2]-o.Corners[0], o.Corners[3]-o.Corners[1])
	take := func(i int) {
		if a := o.area(); owner[i] == background || a < areas[i] {
			owner[i], areas[i] = k, a
		}
	}
	centre := g.centre(o, bestMap(side))
	take(centre)
	for m, s := range strides {
		cells := side / float32(s)
		if m > 0 && cells < low || m < len(strides)-1 && cells > high {
			continue
		}
		g.near(o, m, func(i int) {
			if i != centre {
				take(i)
			}
		})
	}
}

// bestMap returns the coarsest map that a side covers with at least twice the lower limit of cells, or the
// finest map.
func bestMap(side float32) int {
	for m := len(strides) - 1; m > 0; m-- {
		if side >= float32(2*low*strides[m]) {
			return m
		}
	}
	return 0
}

// centre returns the cell that contains the centre of an object on a map.
func (g *Grid) centre(o Object, m int) int {
	s := strides[m]
	cell := func(a, b float32, count int) int {
		return min(max(int(math.Floor(float64((a+b)/2)/float64(s))), 0), count-1)
	}
	x, y := cell(o.Corners[0], o.Corners[2], g.Width/s), cell(o.Corners[1], o.Corners[3], g.Height/s)
	return g.starts[m] + y*(g.Width/s) + x
}

// near calls visit for the cells of a map with a centre inside the box of an object and within
// radius cells of its centre, along both axes.
func (g *Grid) near(o Object, m int, visit func(i int)) {
	s := float32(strides[m])
	cx, cy := (o.Corners[0]+o.Corners[2])/2, (o.Corners[1]+o.Corners[3])/2
	left, right := max(o.Corners[0], cx-radius*s), min(o.Corners[2], cx+radius*s)
	top, bottom := max(o.Corners[1], cy-radius*s), min(o.Corners[3], cy+radius*s)
	g.inside(m, left, top, right, bottom, visit)
}

// inside calls visit for the cells of a map with a centre between borders.
func (g *Grid) inside(m int, left, top, right, bottom float32, visit func(i int)) {
	s := strides[m]
	columns, rows := g.Width/s, g.Height/s
	for y := range rows {
		if py := float32(s*y + s/2); !(py > top && py < bottom) {
			continue
		}
		for x := range columns {
			if px := float32(s*x + s/2); px > left && px < right {
				visit(g.starts[m] + y*columns + x)
			}
		}
	}
}

// exclude makes the background in an ignored object unknown.
func (g *Grid) exclude(o Object, owner []int) {
	for m := range strides {
		g.inside(m, o.Corners[0], o.Corners[1], o.Corners[2], o.Corners[3], func(i int) {
			if owner[i] == background {
				owner[i] = unknown
			}
		})
	}
}
