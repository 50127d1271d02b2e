package bn

import (
	"fmt"
	"math"

	"github.com/bnctl/bnctl/tensor"
)

// NonFinite is the error of moments that must not become running statistics.
type NonFinite struct {
	Layer    string
	Replica  int
	Channel  int
	What     string  // mean, variance or count
	Value    float64 // NaN, an infinity, or a negative sum of squares
	Channels int     // how many channels of the layer are affected
}

func (e *NonFinite) Error() string {
	return fmt.Sprintf("bn: layer %s: replica %d: channel %d: the %s is %g (%d channels affected); "+
		"nothing was committed; look for bad input, or lower --lr",
		e.Layer, e.Replica, e.Channel, e.What, e.Value, e.Channels)
}

// Check verifies the moments of one step before they are committed: one
// f64 [R,1+2C] per layer, in the order of layers, all with the same R. It
// returns a *NonFinite for the first bad channel in the order of layers,
// replicas, channels.
func Check(layers []Layer, moments []tensor.Tensor) error {
	if len(moments) != len(layers) {
		return fmt.Errorf("bn: moments of %d layers, want %d", len(moments), len(layers))
	}
	for i, l := range layers {
		m := moments[i]
		if m.DType != tensor.F64 || len(m.Shape) != 2 || m.Shape[1] != 1+2*l.Channels ||
			m.Shape[0] != moments[0].Shape[0] {
			return fmt.Errorf("bn: layer %s: moments are %v, want f64[replicas,%d]", l.Name, m, 1+2*l.Channels)
		}
		for r := range m.Shape[0] {
			if err := l.check(r, row(m, r)); err != nil {
				return err
			}
		}
	}
	return nil
}

// row returns the moments of replica r.
func row(m tensor.Tensor, r int) []float64 {
	width := m.Shape[1]
	return m.F64()[r*width : (r+1)*width]
}

// check verifies the moments of one replica. Those of an empty one count for
// nothing, whatever they are.
func (l *Layer) check(replica int, m []float64) error {
	n := m[0]
	if n == 0 {
		return nil
	}
	if !(n > 0 && n < 1<<53) || n != math.Trunc(n) {
		return &NonFinite{Layer: l.Name, Replica: replica, What: "count", Value: n, Channels: l.Channels}
	}
	var first *NonFinite
	mean, q := m[1:1+l.Channels], m[1+l.Channels:]
	for c := range mean {
		what, v := "mean", mean[c]
		if finite(v) {
			what, v = "variance", q[c]/n
		}
		switch {
		case finite(v) && (what == "mean" || v >= 0):
		case first == nil:
			first = &NonFinite{Layer: l.Name, Replica: replica, Channel: c, What: what, Value: v, Channels: 1}
		default:
			first.Channels++
		}
	}
	if first == nil {
		return nil
	}
	return first
}

func finite(v float64) bool { return v-v == 0 }
