package evaluation

// Confusion counts labels by their class and by the predicted one. It is a matrix that
// stores only the cells that are not 0: for 10,000 classes there are a hundred million
// cells.
type Confusion struct{ rows [][]Predictions } // rows by label; cells by class, ascending

// Predictions is the number of labels of one class for which a class was predicted.
type Predictions struct{ Class, N int }

// NewConfusion returns an empty matrix for a number of classes.
func NewConfusion(classes int) Confusion { return Confusion{make([][]Predictions, classes)} }

// Classes returns the number of classes: of rows, and of columns.
func (c *Confusion) Classes() int { return len(c.rows) }

// Row returns the predictions for the labels of a class, by class, ascending. It must not
// be changed.
func (c *Confusion) Row(label int) []Predictions { return c.rows[label] }

// N returns how often a class was predicted for labels of a class.
func (c *Confusion) N(label, predicted int) int {
	if at, there := c.find(label, predicted); there {
		return c.rows[label][at].N
	}
	return 0
}

// Add counts n labels of one class for which a class was predicted.
func (c *Confusion) Add(label, predicted, n int) {
	at, there := c.find(label, predicted)
	row := c.rows[label]
	if !there {
		row = append(row, Predictions{})
		copy(row[at+1:], row[at:])
		row[at] = Predictions{Class: predicted}
		c.rows[label] = row
	}
	row[at].N += n
}

// Dense returns all cells, [label][predicted].
func (c *Confusion) Dense() [][]int {
	out := make([][]int, len(c.rows))
	for label, row := range c.rows {
		out[label] = make([]int, len(c.rows))
		for _, p := range row {
			out[label][p.Class] = p.N
		}
	}
	return out
}

// find returns the index of a class in the row of a label, or where to insert it. It is
// called for each pixel of a mask.
func (c *Confusion) find(label, predicted int) (at int, there bool) {
	row, low, high := c.rows[label], 0, len(c.rows[label])
	for low < high {
		if mid := (low + high) / 2; row[mid].Class < predicted {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, low < len(row) && row[low].Class == predicted
}
