package cells

import "math"

// Object is an annotated object of an input. Corners are the corners x1, y1, x2, y2 of its box in pixels. An
// ignored object counts neither as an object nor as background.
type Object struct {
	Corners [4]float32
	Class   int
	Ignored bool
}

// These are special values in an assignment. All other values are the index of the object that is assigned to
// a cell.
const (
	background = -1 // no object
	unknown    = -2 // an ignored object, which has no loss
)

// These are the limits that assign uses. A feature map is used for boxes if the longer side is low to high
// cells of the map. The finest map has no lower limit, and the coarsest no upper one. The ranges of
// neighbouring maps overlap, so that no size is on the border between two maps.
const (
	low, high = 3, 12
	radius    = 1.5 // distance from the centre of a box in cells, along both axes
)

// assign returns for each cell the index of the object that is assigned to it, or background or unknown. Like
// FCOS (Tian et al. 2019), it needs no predictions:
//
//   - An object gets the cells with a centre inside its box and within radius of the object's centre, on each
//     feature map for its size. On the map that fits best, it always gets the cell that contains its centre.
//   - A cell in several objects gets the one with the smallest area; of equal areas, the first.
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

// claim assigns object k to its cells.
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
		g.eachNear(o, m, func(i int) {
			if i != centre {
				take(i)
			}
		})
	}
}

// bestMap returns the coarsest feature map on which a side has at least twice the lower limit of cells. If
// there is none, it returns the finest map.
func bestMap(side float32) int {
	for m := len(strides) - 1; m > 0; m-- {
		if side >= float32(2*low*strides[m]) {
			return m
		}
	}
	return 0
}

// centre returns the cell of map m that contains the centre of an object.
func (g *Grid) centre(o Object, m int) int {
	s := strides[m]
	cell := func(a, b float32, count int) int {
		return min(max(int(math.Floor(float64((a+b)/2)/float64(s))), 0), count-1)
	}
	x, y := cell(o.Corners[0], o.Corners[2], g.Width/s), cell(o.Corners[1], o.Corners[3], g.Height/s)
	return g.starts[m] + y*(g.Width/s) + x
}

// eachNear calls visit for each cell of map m with a centre inside the box of an object and, along both axes,
// within radius cells of the object's centre.
func (g *Grid) eachNear(o Object, m int, visit func(i int)) {
	s := float32(strides[m])
	cx, cy := (o.Corners[0]+o.Corners[2])/2, (o.Corners[1]+o.Corners[3])/2
	left, right := max(o.Corners[0], cx-radius*s), min(o.Corners[2], cx+radius*s)
	top, bottom := max(o.Corners[1], cy-radius*s), min(o.Corners[3], cy+radius*s)
	g.eachInside(m, left, top, right, bottom, visit)
}

// eachInside calls visit for each cell of map m with a centre between the given borders.
func (g *Grid) eachInside(m int, left, top, right, bottom float32, visit func(i int)) {
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

// exclude changes background to unknown where it is inside an ignored object.
func (g *Grid) exclude(o Object, owner []int) {
	for m := range strides {
		g.eachInside(m, o.Corners[0], o.Corners[1], o.Corners[2], o.Corners[3], func(i int) {
			if owner[i] == background {
				owner[i] = unknown
			}
		})
	}
}
