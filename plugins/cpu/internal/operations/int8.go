package operations

import (
	"slices"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/layout"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
)

// int8Ops are the operations on bytes (docs/int8.md) other than products.
var int8Ops = map[graph.Op]func(c *plan.Compiler) run.Action{
	graph.Quantize: buildQuantize, graph.Dequantize: buildDequantize, graph.AddInt8: buildAddInt8,
	graph.MulInt8: buildMulInt8, graph.AvgPoolInt8: buildAvgPoolInt8, graph.MaxPoolInt8: buildMaxPoolInt8,
	graph.TableInt8: buildTableInt8, graph.ConcatInt8: buildConcat,
	graph.PadInt8: buildPad, graph.QuantizeWeight: buildQuantizeWeight,
}

// bytewise returns an action that works element by element on rows with the layout of the
// result. do receives a piece of the result and of the operands, as bytes, with n elements
// each.
func bytewise(c *plan.Compiler, do func(f *run.Frame, y []byte, x [][]byte, n int)) run.Action {
	in, out := operands(c)
	y := out[0]
	some := func(f *run.Frame, w *run.Worker, i, from, to int) {
		piece := func(v *run.Value) []byte {
			size := v.DType.Size()
			return f.Unit(v, w, y.Kind, i)[from*size : to*size]
		}
		var x [2][]byte
		for k, v := range in[:min(len(in), len(x))] {
			if v.Kind == y.Kind {
				x[k] = piece(v)
			}
		}
		do(f, piece(y), x[:], to-from)
	}
	a := &run.ByRows{Work: y.Count / 4, Row: func(f *run.Frame, w *run.Worker, i, piece, pieces int) {
		from, to := schedule.Span(piece, pieces, y.Count)
		some(f, w, i, from, to)
	}}
	if len(y.Shape) > 1 {
		a.Spans = run.Spans{Positions: y.Positions, Step: 1, Pointwise: true,
			Width: bytesWidth(y.Channels * y.DType.Size()),
			Span: func(f *run.Frame, w *run.Worker, i, from, to int) {
				some(f, w, i, from*y.Channels, to*y.Channels)
			}}
	}
	return a
}

// factor returns an attribute of the node, rounded to the float32 that kernels multiply by.
func factor(c *plan.Compiler, key string) float32 { return float32(c.Node().Float(key)) }

func buildQuantize(c *plan.Compiler) run.Action {
	q, scale := class.Int8Of(c.Node()), factor(c, "scale")
	return bytewise(c, func(f *run.Frame, y []byte, x [][]byte, _ int) {
		f.Kernels.QuantizeInt8(y, layout.View[float32](x[0]), q, scale)
	})
}

func buildDequantize(c *plan.Compiler) run.Action {
	zero, scale := class.Int8Of(c.Node()).Zero, factor(c, "scale")
	return bytewise(c, func(f *run.Frame, y []byte, x [][]byte, _ int) {
		f.Kernels.DequantizeInt8(layout.View[float32](y), x[0], zero, scale)
	})
}

func buildTableInt8(c *plan.Compiler) run.Action {
	table := c.In(1)
	return bytewise(c, func(f *run.Frame, y []byte, x [][]byte, _ int) {
		f.Kernels.TableInt8(y, x[0], (*[256]byte)(f.Bytes(table)))
	})
}

func buildAddInt8(c *plan.Compiler) run.Action {
	add := class.AddendsOf(c.Node())
	return bytewise(c, func(f *run.Frame, y []byte, x [][]byte, _ int) { f.Kernels.AddInt8(y, x[0], x[1], add) })
}

func buildMulInt8(c *plan.Compiler) run.Action {
	a, b, y, r := c.In(0), c.In(1), c.Out(0), class.FactorsOf(c.Node())
	if slices.Equal(a.Shape, b.Shape) {
		return bytewise(c, func(f *run.Frame, y []byte, x [][]byte, _ int) {
			f.Kernels.MulInt8(y, x[0], x[1], r)
		})
	}
	channels := y.Channels
	chunk := c.Kernels().GatePixels(channels) * channels
	return run.BySpan(&run.ByRows{Work: y.Count / 8, Spans: run.Spans{Positions: y.Positions, Step: 1,
		Width: bytesWidth(channels), Pointwise: true,
		Span: func(f *run.Frame, w *run.Worker, i, from, to int) {
			u, v, product := f.Unit(a, w, y.Kind, i), f.Unit(b, w, y.Kind, i), f.Unit(y, w, y.Kind, i)
			gate := w.Floats(chunk)
			for i := range gate {
				gate[i] = float32(int32(v[i%channels]) - r.BZero)
			}
			for at, end := from*channels, to*channels; at < end; at += chunk {
				f.Kernels.GateInt8(product[at:min(at+chunk, end)], u[at:], gate, r)
			}
		}}})
}

// bytesWidth returns the width of a position in elements of four bytes, if it has the given number of
// bytes.
func bytesWidth(bytes int) int { return max(1, bytes/4) }
