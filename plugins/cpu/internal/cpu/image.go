package cpu

import (
	"fmt"

	"github.com/bnctl/bnctl/graph"
)

// buildImage looks every byte up in a table per channel.
func buildImage(c *compiler) action {
	x, y := c.in(0), c.out(0)
	if y.channels > mostImageChannels {
		return c.no(fmt.Sprintf("images of more than %d channels", mostImageChannels))
	}
	tables := imageTables(c.node, y.channels)
	bgr := c.node.Bool("bgr")
	return action{work: y.count, row: func(f *frame, w *worker, i, piece, pieces int) {
		src, dst := f.unit(x, w, graph.Rows, i), f.at(y, w, i)
		from, to := y.positions*piece/pieces, y.positions*(piece+1)/pieces
		for ch := range tables {
			at := ch
			if bgr {
				at = y.channels - 1 - ch
			}
			for p := from; p < to; p++ {
				dst[p*y.channels+ch] = tables[ch][src[p*y.channels+at]]
			}
		}
	}}
}

// mostImageChannels bounds the tables, which take 1 KiB per channel.
const mostImageChannels = 1 << 12

// imageTables returns what every byte becomes in each channel.
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
