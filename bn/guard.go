package bn

import (
	"fmt"
	"math"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// NonFinite is the error for moments that must not become running statistics, and for statistics
// that float32 cannot represent.
type NonFinite struct {
	Layer    string
	Replica  int // replica that has the values, or, of several, the one with the largest values; -1 if unknown
	Channel  int
	What     string  // "mean", "variance" or "count" of moments; "running mean" or "running variance"
	Value    float64 // NaN, an infinity, a negative sum of squares, or beyond float32
	Channels int     // number of affected channels of the layer
}

func (e *NonFinite) Error() string {
	where := fmt.Sprintf("bn: layer %s: ", e.Layer)
	if e.Replica >= 0 {
		where += fmt.Sprintf("replica %d: ", e.Replica)
	}
	wrong := fmt.Sprintf("is %g", e.Value)
	if tensor.IsFinite(e.Value) && e.Value > 0 {
		wrong = fmt.Sprintf("would be %.3g, and float32 ends at 3.4e+38", e.Value)
	}
	return fmt.Sprintf("%schannel %d: the %s %s (%s affected)", where, e.Channel, e.What, wrong,
		problem.Plural(e.Channels, "channel"))
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

// check verifies the moments of one replica. It ignores the moments of a replica without values.
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
		if tensor.IsFinite(v) {
			what, v = "variance", q[c]/n
		}
		switch {
		case tensor.IsFinite(v) && (what == "mean" || v >= 0):
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

// rounded returns statistics as they are stored. nonFinite describes the first channel with a mean that
// float32 cannot represent or, otherwise, the first with a variance that it cannot represent.
func (l *Layer) rounded(mean, variance []float64) (m, v tensor.Tensor, nonFinite *NonFinite) {
	m, v = tensor.New(tensor.F32, len(mean)), tensor.New(tensor.F32, len(variance))
	for _, s := range []struct {
		what string
		from []float64
		to   []float32
	}{{"running mean", mean, m.F32()}, {"running variance", variance, v.F32()}} {
		for c, x := range s.from {
			s.to[c] = float32(x)
			switch {
			case tensor.IsFinite(float64(s.to[c])):
			case nonFinite == nil:
				nonFinite = &NonFinite{Layer: l.Name, Replica: -1, Channel: c, What: s.what, Value: x, Channels: 1}
			case nonFinite.What == s.what:
				nonFinite.Channels++
			}
		}
	}
	return m, v, nonFinite
}

// farthest returns the replica with the largest mean of squares in a channel, and this mean.
// moments is f64 [R,1+2C]. It considers the replicas that counts accepts, and returns -1 if counts
// accepts no replica.
func (l *Layer) farthest(moments tensor.Tensor, channel int, counts func(r int, n float64) bool) (
	replica int, most float64) {
	replica, most = -1, -1
	for r := range moments.Shape[0] {
		m := row(moments, r)
		if n := m[0]; n > 0 && counts(r, n) {
			mean := m[1+channel]
			if size := float64(mean*mean) + m[1+l.Channels+channel]/n; size > most {
				replica, most = r, size
			}
		}
	}
	return replica, most
}
