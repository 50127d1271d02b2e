package operations

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// buildImage converts bytes to float32 with a table of results for each channel.
func buildImage(c *plan.Compiler) run.Action {
	x, y := c.In(0), c.Out(0)
	if y.Channels > mostImageChannels {
		return c.Refuse(fmt.Sprintf("images of more than %d channels", mostImageChannels))
	}
	if x.Last {
		return c.Refuse("pixels that an operation of int8 reads as well")
	}
	tables := imageTables(c.Node(), y.Channels)
	bgr := c.Node().Bool("bgr")
	n := y.Channels
	return run.BySpan(&run.ByRows{Work: y.Count, Spans: run.Spans{Positions: y.Positions, Step: 1, Width: n,
		Pointwise: true, Rings: true, Span: func(f *run.Frame, w *run.Worker, i, from, to int) {
			src, dst := f.Unit(x, w, graph.Rows, i), f.At(y, w, i)
			y.Stretches(from, to, func(at, from, to int) {
				lookUp(dst[at*n:(at+to-from)*n], src[from*n:to*n], tables, bgr)
			})
		}}})
}

// lookUp looks the bytes of some pixels up in the tables of their channels.
func lookUp(dst []float32, src []byte, tables [][256]float32, bgr bool) {
	n := len(tables)
	if n == 3 {
		lookUp3(dst, src, (*[3][256]float32)(tables), bgr)
		return
	}
	for ch := range tables {
		at, table := ch, &tables[ch]
		if bgr {
			at = n - 1 - ch
		}
		for p := 0; p < len(src); p += n {
			dst[p+ch] = table[src[p+at]]
		}
	}
}

// lookUp3 does the same as lookUp for three channels, pixel by pixel. In the usual order it handles four
// pixels at a time, as arrays with known bounds.
func lookUp3(dst []float32, src []byte, tables *[3][256]float32, bgr bool) {
	x, y, z := &tables[0], &tables[1], &tables[2]
	for !bgr && len(src) >= 12 && len(dst) >= 12 {
		s, d := (*[12]byte)(src), (*[12]float32)(dst)
		d[0], d[1], d[2] = x[s[0]], y[s[1]], z[s[2]]
		d[3], d[4], d[5] = x[s[3]], y[s[4]], z[s[5]]
		d[6], d[7], d[8] = x[s[6]], y[s[7]], z[s[8]]
		d[9], d[10], d[11] = x[s[9]], y[s[10]], z[s[11]]
		src, dst = src[12:], dst[12:]
	}
	for len(src) >= 3 && len(dst) >= 3 {
		a, b, c := src[0], src[1], src[2]
		if bgr {
			a, c = c, a
		}
		dst[0], dst[1], dst[2] = x[a], y[b], z[c]
		src, dst = src[3:], dst[3:]
	}
}

// mostImageChannels is the maximum number of channels. The table of a channel needs 1 KiB.
const mostImageChannels = 1 << 12

// imageTables returns a table for each channel with the result for every byte.
func imageTables(n *graph.Node, channels int) [][256]float32 {
	tables := make([][256]float32, channels)
	mean, std := n.Floats("mean"), n.Floats("std")
	for ch := range tables {
		m, s := 0.0, 1.0
		if len(mean) > 0 {
			m = mean[ch]
		}
		if len(std) > 0 {
			s = std[ch]
		}
		for b := range tables[ch] {
			tables[ch][b] = float32((float64(float64(b)*n.Float("scale")) - m) / s)
		}
	}
	return tables
}
