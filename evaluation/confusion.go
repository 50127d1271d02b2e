package evaluation

// Confusion counts labels by their class and by the predicted class. It is a matrix that stores only the
// cells that are not 0, because a full matrix of 10,000 classes has a hundred million cells.
type Confusion struct{ rows [][]Predictions } // rows by label; a row is sorted by predicted class

// Predictions states that class Class was predicted for N of the labels of one class.
type Predictions struct{ Class, N int }

// NewConfusion returns an empty matrix for a number of classes.
func NewConfusion(classes int) Confusion { return Confusion{make([][]Predictions, classes)} }

// Classes returns the number of classes. The matrix has this number of rows and of columns.
func (c *Confusion) Classes() int { return len(c.rows) }

// Row returns the predictions for the labels of a class, sorted by predicted class. The caller must not
// change them.
func (c *Confusion) Row(label int) []Predictions { return c.rows[label] }

// N returns how often the class predicted was predicted for a label of the class label.
func (c *Confusion) N(label, predicted int) int {
	if at, there := c.find(label, predicted); there {
		return c.rows[label][at].N
	}
	return 0
}

// Add counts n more labels of the class label that were predicted as the class predicted.
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

// find returns the index of a predicted class in the row of a label, or the index where to insert it. find
// must be fast, because it is called for each pixel of a mask.
func (c *Confusion) find(label, predicted int) (index int, found bool) {
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
