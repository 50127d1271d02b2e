package onnx

import (
	"slices"
	"strings"

	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/tensor"
)

// computes absorbs arithmetic with a constant if the result still has the form (x*scale -
// mean) / std, with scale and std above 0.
func (p *pixels) computes(op string, c *call) bool {
	if !p.floats || len(c.In) != 2 || c.Attribute("broadcast") != nil || c.Attribute("axis") != nil {
		return false
	}
	x := slices.Index(c.Proto.Input, p.at)
	t, ok := c.Constant(1 - x)
	if !ok || x == 1 && (op == "Sub" || op == "Div") {
		return false
	}
	v, each := p.byChannel(t)
	if v == nil {
		return false
	}
	i := p.image
	if alone := i.Mean == nil && i.Std == nil && !each; alone && op == "Mul" {
		i.Scale *= v[0]
	} else if alone && op == "Div" {
		i.Scale /= v[0]
	} else {
		i.Mean, i.Std = shifted(op, i.Mean, i.Std, v)
	}
	above := func(v float64) bool { return v > 0 && tensor.IsFinite(v) }
	if !above(i.Scale) || slices.ContainsFunc(i.Std, func(v float64) bool { return !above(v) }) ||
		slices.ContainsFunc(i.Mean, func(v float64) bool { return !tensor.IsFinite(v) }) {
		return false
	}
	p.image = i
	return true
}

// shifted returns the mean and the std after an operator with the constant v is applied to
// (x - mean) / std.
func shifted(op string, mean, std, v []float64) (newMean, newStd []float64) {
	newMean, newStd = slices.Clone(mean), slices.Clone(std)
	switch {
	case (op == "Mul" || op == "Div") && std == nil:
		newStd = slices.Repeat([]float64{1}, len(v))
	case (op == "Add" || op == "Sub") && mean == nil:
		newMean = make([]float64, len(v))
	}
	for k := range v {
		by := 1.0
		if std != nil {
			by = std[k]
		}
		switch op {
		case "Mul":
			newStd[k] /= v[k]
		case "Div":
			newStd[k] *= v[k]
		case "Add":
			newMean[k] -= float64(v[k] * by)
		case "Sub":
			newMean[k] += float64(v[k] * by)
		}
	}
	return newMean, newStd
}

// byChannel returns the number that a constant has for each channel, or nil if it varies along
// other axes. perChannel reports whether the constant has an axis for the channels.
func (p *pixels) byChannel(t tensor.Tensor) (v []float64, perChannel bool) {
	n, s := p.size['C'], t.Shape
	behind := len(p.layout) - strings.IndexByte(p.layout, 'C') // number of axes from the channels on
	if !element.IsFloat(t.DType) || len(s) > len(p.layout)+1 || t.Count() != 1 && t.Count() != n {
		return nil, false
	}
	perChannel = len(s) >= behind && s[len(s)-behind] == n
	if !perChannel && t.Count() != 1 {
		return nil, false
	}
	if t.DType != tensor.F64 {
		f, err := t.ToF32()
		if err != nil {
			return nil, false
		}
		for _, x := range f.F32() {
			v = append(v, float64(x))
		}
	} else {
		v = slices.Clone(t.F64())
	}
	if len(v) == 1 {
		v = slices.Repeat(v, n)
	}
	return v, perChannel
}
