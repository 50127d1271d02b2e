package losses

import "github.com/bnctl/bnctl/graph"

// negativesOfPositive is how many background slots count in the loss for each slot with an object. A
// slot is an anchor of the detector.
const negativesOfPositive = 3.0

// ssdLoss returns Boxes for an output of graph.SSDForm (Liu et al. 2016): for each slot with an object the
// sum of the smooth absolute errors of its box and the cross-entropy of its class, and the cross-entropies of
// the hardest slots of background in each picture. Package objects/anchors has the targets.
func (t *tape) ssdLoss(outputs graph.Value, shape []int) (Nodes, error) {
	rows, slots := shape[0], shape[1]
	weights := []int{rows - rowsOfBox, slots}
	mask := t.input(InputMask, []int{1, slots})
	logs := t.op(graph.LogSoftmax, "loss.logs",
		[]graph.Value{t.rows("loss.logits", outputs, rowsOfBox, rows)}, "axis", 0)
	met := t.op(graph.Mul, "loss.met", []graph.Value{logs, t.input(InputPositive, weights)})
	sum := t.op(graph.ReduceSum, "loss.met.sum", []graph.Value{met}, "axes", []int{0}, "keep", true)
	losses := t.op(graph.Affine, "loss.crossentropy", []graph.Value{sum}, "by", -1.0)
	order := t.rows("loss.order", t.input(InputNegative, weights), 0, 1)
	counted := t.op(graph.Add, "loss.counted", []graph.Value{mask, t.hardest(losses, order, mask, slots)})
	boxes := t.smoothElements(outputs, mask, slots)
	return t.ofTerms(outputs, []lossTerm{{boxes, mask}, {losses, counted}})
}

// smoothElements returns the sum of the smooth absolute errors of the first four rows, [1, A]: x²/2 for
// errors up to 1, and |x| - 1/2 above. Slots without an object have a prediction of 0.
func (t *tape) smoothElements(outputs, mask graph.Value, slots int) graph.Value {
	op := func(op graph.Op, name string, operands []graph.Value, pairs ...any) graph.Value {
		return t.op(op, "loss.box."+name, operands, pairs...)
	}
	raw := op(graph.Mul, "masked", []graph.Value{t.rows("loss.box.raw", outputs, 0, rowsOfBox), mask})
	wrong := op(graph.Sub, "error", []graph.Value{raw, t.input(InputBoxes, []int{rowsOfBox, slots})})
	within := op(graph.Clip, "within", []graph.Value{wrong}, "min", -1.0, "max", 1.0)
	rest := op(graph.Sub, "rest", []graph.Value{wrong,
		op(graph.Affine, "half", []graph.Value{within}, "by", 0.5)})
	all := op(graph.Mul, "smooth", []graph.Value{within, rest})
	return op(graph.ReduceSum, "elements", []graph.Value{all}, "axes", []int{0}, "keep", true)
}

// mining finds the hardest slots of background by comparisons and counts, which give the same
// result on every device. It computes a threshold digit by digit, and then the last slot that
// counts among those that equal the threshold.
type mining struct {
	t     *tape
	limit graph.Value // [1, 1], the number of slots to be found
}

func (m *mining) op(op graph.Op, name string, operands []graph.Value, pairs ...any) graph.Value {
	return m.t.op(op, "mining."+name, operands, pairs...)
}

// scaled returns factor*x + add.
func (m *mining) scaled(name string, x graph.Value, factor, add float64) graph.Value {
	return m.op(graph.Affine, name, []graph.Value{x}, "by", factor, "add", add)
}

func (m *mining) compare(name string, a, b graph.Value, relation string) graph.Value {
	return m.op(graph.Compare, name, []graph.Value{a, b}, "of", relation)
}

// count returns the number of slots that are not 0, [1, 1].
func (m *mining) count(name string, flags graph.Value) graph.Value {
	return m.op(graph.ReduceSum, name, []graph.Value{flags}, "axes", []int{1}, "keep", true)
}

// raise returns next if the number of values that are at least next is number or more, and current
// otherwise.
func (m *mining) raise(values, current, next, number graph.Value) graph.Value {
	n := m.count("count", m.compare("reached", values, next, "greater_equal"))
	enough := m.compare("enough", n, number, "greater_equal")
	return m.op(graph.Where, "raised", []graph.Value{enough, next, current})
}

// hardest returns 1 for the slots of background with the largest losses, and 0 for others. It
// selects three times as many slots as there are slots with an object, or all; of equal losses it
// selects the first. order is A minus the index for a slot of background, and 0 for other slots.
// Losses below 2^-32 are equal.
func (t *tape) hardest(losses, order, mask graph.Value, slots int) graph.Value {
	m := &mining{t: t}
	m.limit = m.scaled("most", m.count("positives", mask), negativesOfPositive, 0)
	key := m.op(graph.Where, "key", []graph.Value{order,
		m.op(graph.Clip, "losses", []graph.Value{losses}, "min", 0x1p-32, "max", 0x1p32), graph.None})
	limit := m.scaled("least", m.limit, 0, 0x1p-32)
	for k := 5; k >= 0; k-- { // find the power of 2 of the threshold
		limit = m.raise(key, limit, m.scaled("power", limit, float64(uint64(1)<<(1<<k)), 0), m.limit)
	}
	power, digit := limit, 1.0
	for range 23 { // find the binary digits of the threshold, a float32
		digit /= 2
		next := m.op(graph.Add, "digit", []graph.Value{limit, m.scaled("add", power, digit, 0)})
		limit = m.raise(key, limit, next, m.limit)
	}
	beyond := m.op(graph.Add, "beyond", []graph.Value{limit, m.scaled("last", power, digit, 0)})
	above := m.compare("above", key, beyond, "greater_equal")
	equal := m.op(graph.Sub, "equal", []graph.Value{m.compare("from", key, limit, "greater_equal"), above})
	left := m.op(graph.Sub, "left", []graph.Value{m.limit, m.count("above.count", above)})
	first := m.op(graph.Mul, "equal.order", []graph.Value{equal, order})
	from := m.scaled("none", m.limit, 0, 0)
	bit := 1
	for bit*2 <= slots {
		bit *= 2
	}
	for ; bit >= 1; bit /= 2 {
		from = m.raise(first, from, m.scaled("bit", from, 1, float64(bit)), left)
	}
	from = m.op(graph.Clip, "some", []graph.Value{from}, "min", 1.0, "max", 0x1p24)
	return m.op(graph.Add, "hard", []graph.Value{above, m.compare("chosen", first, from, "greater_equal")})
}
