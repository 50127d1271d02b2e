package cells

// Columns is the number of columns of Candidates.Objects.
const Columns = 6

// PerCell is the number of rows in Candidates.Cells.
const PerCell = 5

// Candidates are the inputs of SimOTA, the assignment of objects to cells on a device, for one sample with at
// most M objects. They are row-major, and depend on labels alone:
//
//	Objects  [M, 6]   corners in pixels; 1 for an object, otherwise 0; M minus the index. A row without an
//	                  object has a box with an area too, so that its overlap with any prediction is defined
//	Classes  [M, C]   1 for the class of the object, otherwise 0
//	Near     [M, S]   1 if the centre of a row or column of cells is less than 1.5 cells from the centre of the
//	                  object, otherwise 0. S counts, for each map from fine to coarse, its rows and its columns
//	Cells    [5, A]   column, row and side of the cell; A minus its index; 1 if the cell without an object is
//	                  background, 0 if it is in an ignored object
type Candidates struct{ Objects, Classes, Near, Cells []float32 }

// Sides returns the number of rows and the number of columns of each feature map.
func (g *Grid) Sides() (sides [][2]int) {
	for _, s := range strides {
		sides = append(sides, [2]int{g.Height / s, g.Width / s})
	}
	return sides
}

// AllSides returns the number of rows plus the number of columns, summed over all feature maps.
func (g *Grid) AllSides() (n int) {
	for _, s := range g.Sides() {
		n += s[0] + s[1]
	}
	return n
}

// FillCandidates writes the candidates for objects, which have one of the given number of classes. It
// overwrites all elements. Objects after the first M are left out.
func (g *Grid) FillCandidates(c Candidates, objects []Object, classes int) {
	for _, all := range [][]float32{c.Objects, c.Classes, c.Near} {
		clear(all)
	}
	most := len(c.Objects) / Columns
	k := 0
	for _, o := range objects {
		if o.Ignored || !(o.area() > 0) || k == most {
			continue
		}
		copy(c.Objects[k*Columns:], o.Corners[:])
		c.Objects[k*Columns+4] = 1
		c.Classes[k*classes+o.Class] = 1
		g.fillNear(c.Near[k*g.AllSides():], o)
		k++
	}
	for i := range most {
		row := c.Objects[i*Columns:]
		row[5] = float32(most - i)
		if i >= k {
			row[2], row[3] = 1, 1
		}
	}
	g.fillCells(c.Cells, objects)
}

// fillNear writes the row of Candidates.Near for an object.
func (g *Grid) fillNear(near []float32, o Object) {
	at := 0
	for m, sides := range g.Sides() {
		s := float32(strides[m])
		for axis, count := range sides { // first the rows, along y
			centre := (o.Corners[1-axis] + o.Corners[3-axis]) / 2
			for i := range count {
				if d := (float32(i)+0.5)*s - centre; d < radius*s && d > -radius*s {
					near[at+i] = 1
				}
			}
			at += count
		}
	}
}

// fillCells writes Candidates.Cells.
func (g *Grid) fillCells(rows []float32, objects []Object) {
	n := len(g.cells)
	for i, c := range g.cells {
		for row, v := range []int{c.x, c.y, c.stride, n - i, 1} {
			rows[row*n+i] = float32(v)
		}
	}
	for _, o := range objects {
		if o.Ignored {
			for m := range strides {
				g.eachInside(m, o.Corners[0], o.Corners[1], o.Corners[2], o.Corners[3], func(i int) {
					rows[4*n+i] = 0
				})
			}
		}
	}
}
