package kernel

// Factor describes how weights change when they are packed.
type Factor struct {
	Round *Set      // rounds the weights to bfloat16; nil: no rounding
	By    []float64 // then multiplies them, per output channel; nil: no factors
}

// From returns the factor of the channels from c on.
func (a Factor) From(c int) Factor {
	if a.By != nil {
		a.By = a.By[c:]
	}
	return a
}

// Apply changes weights of channel after channel, from c on. It computes products in float64 and rounds
// them once.
func (a Factor) Apply(row []float32, c int) {
	if a.Round != nil {
		a.Round.RoundBF16(row)
	}
	if a.By == nil {
		return
	}
	by := a.By[c:][:len(row)]
	for i, v := range row {
		row[i] = float32(float64(v) * by[i])
	}
}
