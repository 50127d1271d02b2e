package kernel

import "math"

// Epilogue is applied to the result of a sum of products or a normalisation, bias included,
// before it is written. Each step rounds like a separate pass, so that all sets have the
// same bits.
type Epilogue struct {
	// Plus is added to the result, element by element. It starts at the same element and
	// has the layout of the result, and may be the result itself; nil adds nothing.
	Plus []float32
	Relu bool // the sum is then limited to the range from 0 to Most; NaN and -0 are kept
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

// bounds returns the bounds of a result; without a relu they are infinite.
func (e *Epilogue) bounds() (low, high float32) {
	if e.Relu {
		return 0, e.Most
	}
	return float32(math.Inf(-1)), float32(math.Inf(1))
}

// applyTo applies the epilogue to the value v of element i of a result. It is the definition.
func (e *Epilogue) applyTo(i int, v float32) float32 {
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

// assembly returns the epilogue in the form that assembly needs: the start of Plus, and the address of
// Most, or nil without bounds.
func (e *Epilogue) assembly() (plus, high *float32) {
	if e.Relu {
		high = address(e.Most)
	}
	return first(e.Plus), high
}

// address returns the address of a bound, for assembly to read it. Usual bounds have fixed
// addresses, so that the many calls of a run do not allocate.
func address(bound float32) *float32 {
	for i := range usual {
		if math.Float32bits(usual[i]) == math.Float32bits(bound) {
			return &usual[i]
		}
	}
	other := bound
	return &other
}

// usual has the upper bounds of relu and relu6, and the bound of a Mask for a relu.
var usual = [...]float32{float32(math.Inf(1)), 6, float32(math.NaN())}
