package kernel

import "math"

// Epilogue is what a sum of products or a normalisation does to its result, bias
// included, before it is written. Each step rounds as if it were a pass of its
// own, so that all sets give the same bits.
type Epilogue struct {
	// Plus is added to the result, element by element: it begins where the result
	// begins, lies as that does, and may be the result itself; nil adds nothing.
	Plus []float32
	Relu bool // then bounded to 0 below and Most above; NaN and -0 stay
	Most float32
}

// bound applies the bounds of a relu.
func (e *Epilogue) bound(v float32) float32 {
	switch {
	case e.Relu && v < 0:
		return 0
	case e.Relu && v > e.Most:
		return e.Most
	}
	return v
}

// bounds returns between what the epilogue keeps a result: without a relu everything.
func (e *Epilogue) bounds() (least, most float32) {
	if e.Relu {
		return 0, e.Most
	}
	return float32(math.Inf(-1)), float32(math.Inf(1))
}

// at applies the epilogue to element i of a result, whose value so far is v: the definition.
func (e *Epilogue) at(i int, v float32) float32 {
	if e.Plus != nil {
		v += e.Plus[i]
	}
	return e.bound(v)
}

// lacks reports whether Plus has fewer than the n elements of the result.
func (e *Epilogue) lacks(n int) bool { return e.Plus != nil && len(e.Plus) < n }

// From returns the epilogue of the result from element i on.
func (e Epilogue) From(i int) Epilogue {
	if e.Plus != nil {
		e.Plus = e.Plus[i:]
	}
	return e
}

// assembly returns an epilogue as assembly takes it: where Plus begins, and where
// Most lies if there are bounds; nil without them.
func (e *Epilogue) assembly() (plus, most *float32) {
	if e.Relu {
		most = address(e.Most)
	}
	return first(e.Plus), most
}

// address returns where a bound lies, for assembly to read it. That of a usual
// one is known, so that none of the many calls of a run allocates.
func address(bound float32) *float32 {
	for i := range usual {
		if math.Float32bits(usual[i]) == math.Float32bits(bound) {
			return &usual[i]
		}
	}
	other := bound
	return &other
}

// usual are the bounds of relu, of relu6 and of the mask of a relu.
var usual = [...]float32{float32(math.Inf(1)), 6, float32(math.NaN())}
