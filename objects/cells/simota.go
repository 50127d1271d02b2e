package cells

import (
	"math"

	"github.com/bnctl/bnctl/tensor"
)

// SimOTA (Ge et al. 2021, YOLOX) uses a prediction to assign objects to cells:
//
//   - The candidates are the cells with a centre within radius of the centre of any object, along both axes.
//   - Object m gets k cells. k is the sum of its ten largest overlaps (IoU) with predictions of candidates,
//     rounded down, and at least 1.
//   - These k cells are the candidates with the lowest cost. The cost is the binary cross-entropy of the
//     classes, with the square root of P(object)*P(class) as probability, plus 3*(-log(IoU + 1e-8)), plus a
//     million for a cell that is not near object m itself.
//   - If several objects get the same cell, the cell keeps the object with the lowest cost at this cell among
//     all objects.
//
// Of equal costs the lower index is first, both of cells and of objects. Every number is float32, rounded
// after each operation, in the order of the training function of package parallel. A device computes
// exponentials and logarithms by its kernel class. So its assignment may differ where two costs differ only
// by their rounding.
const (
	mostOverlaps = 10
	overlapCost  = 3
	farCost      = 1e6
	noCost       = 1e30 // cost of cells that are not candidates
)

// Match returns the object that SimOTA assigns to each cell for a prediction [5+C, A]: an index of objects,
// or background or unknown, which are negative. overlaps has the IoU of each cell's prediction with its
// object. Only the first limit objects that are not ignored count.
func (g *Grid) Match(rows []float32, objects []Object, limit int) (owner []int, overlaps []float32) {
	n := len(g.cells)
	s := &simOTA{grid: g, rows: rows, boxes: make([][4]float32, n), candidate: make([]bool, n)}
	for k, o := range objects {
		if !o.Ignored && o.area() > 0 && len(s.objects) < limit {
			s.objects, s.index = append(s.objects, o), append(s.index, k)
		}
	}
	s.prepare()
	owner, overlaps = make([]int, n), make([]float32, n)
	for i := range owner {
		owner[i] = background
	}
	for i, k := range s.match() {
		if k >= 0 {
			owner[i], overlaps[i] = s.index[k], s.overlaps[k][i]
		}
	}
	for _, o := range objects {
		if o.Ignored {
			g.exclude(o, owner)
		}
	}
	return owner, overlaps
}

// simOTA is the state of Match during a call.
type simOTA struct {
	grid      *Grid
	rows      []float32
	objects   []Object
	index     []int // indices of the objects in the arguments of Match
	boxes     [][4]float32
	candidate []bool
	near      [][]bool
	overlaps  [][]float32 // [objects][cells]; 0 if the cell is not a candidate
	costs     [][]float32
}

// prepare computes candidates, overlaps and costs.
func (s *simOTA) prepare() {
	g, n := s.grid, len(s.grid.cells)
	for _, o := range s.objects {
		near := make([]bool, n)
		for m := range strides {
			s.nearOn(near, o, m)
		}
		for i, is := range near {
			s.candidate[i] = s.candidate[i] || is
		}
		s.near = append(s.near, near)
	}
	for i, c := range g.cells {
		s.boxes[i] = c.rounded(s.rows[i], s.rows[n+i], s.rows[2*n+i], s.rows[3*n+i])
	}
	for k, o := range s.objects {
		overlaps, costs := make([]float32, n), make([]float32, n)
		for i := range n {
			if costs[i] = noCost; s.candidate[i] {
				overlaps[i] = overlap(s.boxes[i], o)
				costs[i] = s.cost(k, i, overlaps[i])
			}
		}
		s.overlaps, s.costs = append(s.overlaps, overlaps), append(s.costs, costs)
	}
}

// nearOn marks the cells of map m that are near an object.
func (s *simOTA) nearOn(near []bool, o Object, m int) {
	side := float32(strides[m])
	x, y := (o.Corners[0]+o.Corners[2])/2, (o.Corners[1]+o.Corners[3])/2
	g := s.grid
	for i := g.starts[m]; i < len(g.cells) && g.cells[i].stride == strides[m]; i++ {
		dx, dy := (float32(g.cells[i].x)+0.5)*side-x, (float32(g.cells[i].y)+0.5)*side-y
		near[i] = dx < radius*side && dx > -radius*side && dy < radius*side && dy > -radius*side
	}
}

// rounded returns the corners in pixels of a predicted box. It rounds after each operation.
func (p cell) rounded(x, y, w, h float32) [4]float32 {
	s := float32(p.stride)
	cx, cy := float32((x+float32(p.x))*s), float32((y+float32(p.y))*s)
	half := func(v float32) float32 { return float32(float32(float32(tensor.Exp(float64(v)))*s) * 0.5) }
	return [4]float32{cx - half(w), cy - half(h), cx + half(w), cy + half(h)}
}

// overlap returns the intersection over union of a prediction and an object.
func overlap(box [4]float32, o Object) float32 {
	c := o.Corners
	across := max(min(box[2], c[2])-max(box[0], c[0]), 0)
	down := max(min(box[3], c[3])-max(box[1], c[1]), 0)
	common := float32(across * down)
	area := float32((box[2] - box[0]) * (box[3] - box[1]))
	return common / (o.area() + area - common)
}

// cost returns the cost of assigning object k to cell i.
func (s *simOTA) cost(k, i int, overlap float32) float32 {
	n := len(s.grid.cells)
	object := sigmoid(s.rows[4*n+i])
	var base, gain float32
	sum := 0.0
	for c := range len(s.rows)/n - Fields {
		p := float32(math.Sqrt(float64(float32(sigmoid(s.rows[(Fields+c)*n+i]) * object))))
		met, missed := logarithm(p), logarithm(1-p)
		sum += float64(missed)
		if c == s.objects[k].Class {
			gain = met - missed
		}
	}
	base = float32(sum)
	cost := float32(float32(logOf(overlap+1e-8)*overlapCost)+float32(base+gain)) * -1
	if !s.near[k][i] {
		cost += farCost
	}
	return cost
}

func sigmoid(v float32) float32 { return float32(probability(v)) }

func logOf(v float32) float32 { return float32(tensor.Log(float64(v))) }

// logarithm returns log(p), but not less than -100, like PyTorch's cross-entropy.
func logarithm(p float32) float32 { return max(logOf(p), -100) }

// match returns the object of each cell, or -1.
func (s *simOTA) match() []int {
	owner, counts := make([]int, len(s.grid.cells)), make([]int, len(s.grid.cells))
	for i := range owner {
		owner[i] = -1
	}
	for k := range s.objects {
		left := append([]float32(nil), s.costs[k]...)
		for range s.count(k) {
			best := 0
			for i, v := range left {
				if v < left[best] {
					best = i
				}
			}
			if left[best] >= noCost {
				break
			}
			left[best] = noCost
			owner[best], counts[best] = k, counts[best]+1
		}
	}
	for i, count := range counts {
		for k := range s.objects {
			if count > 1 && (k == 0 || s.costs[k][i] < s.costs[owner[i]][i]) {
				owner[i] = k
			}
		}
	}
	return owner
}

// count returns the number of cells that object k gets before conflicts are resolved.
func (s *simOTA) count(k int) int {
	left := append([]float32(nil), s.overlaps[k]...)
	var sum float32
	for range mostOverlaps {
		best := 0
		for i, v := range left {
			if v > left[best] {
				best = i
			}
		}
		sum += left[best]
		left[best] = 0
	}
	return min(max(int(sum), 1), mostOverlaps)
}
