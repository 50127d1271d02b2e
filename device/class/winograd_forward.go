package class

import "math"

// winograd is the algorithms Winograd2, Winograd4 and Winograd5. l is the convolution that is
// computed, and phase the convolution of one of its phases (Layer.Phase). window computes an
// output without tiles.
//
// Tiles are placed side by side from the first pixel of a phase on. The last ones may extend
// beyond the phase, where pixels are 0. If the weights of some output channel are not
// EvenWeights, window computes all outputs. It also computes the outputs of each tile that
// is not an EvenTile.
type winograd struct {
	product
	Tiles
	l, phase Layer
	even     bool
	u        [][][MostTile * MostTile]float32
	window   func(p product, o, y, x int) float32
}

// newWinograd transforms the weights of a layer. kernel(c, o) returns the weights from input
// channel c to output channel o.
func newWinograd(p product, a Algorithm, l Layer, kernel func(c, o int) []float32,
	window func(p product, o, y, x int) float32) *winograd {
	k := &winograd{product: p, Tiles: a.Tiles(), l: l, phase: l.Phase(), even: evenKernels(l, kernel),
		window: window}
	if k.even {
		k.u = k.weightsOf(l, kernel)
	}
	return k
}

// image computes the result y of an image x.
func (k *winograd) image(y, x []float32) {
	k.x = x
	for i := range k.every() * k.every() {
		k.phaseOf(y, x, i/k.every(), i%k.every())
	}
}

// every returns the distance in the image between neighbouring pixels of a phase.
func (k *winograd) every() int { return k.l.Dilation[0] }

// phaseOf computes phase (py, px) of the result y of an image x.
func (k *winograd) phaseOf(y, x []float32, py, px int) {
	image := k.pixels(x, py, px)
	for ty := 0; ty < k.phase.OH; ty += k.Side {
		for tx := 0; tx < k.phase.OW; tx += k.Side {
			top, left := py+k.every()*ty, px+k.every()*tx
			tile := func(o, y, x int) float32 {
				return k.window(k.product, o, top+k.every()*y, left+k.every()*x)
			}
			if k.even && k.evenTile(k.phase, image, ty, tx) {
				outputs := k.tile(k.phase, image, k.u, ty, tx)
				tile = func(o, y, x int) float32 {
					bias := float32(0) // added even without a bias
					if len(k.bias) > 0 {
						bias = k.bias[o]
					}
					return outputs[o][y*MostTile+x] + bias
				}
			}
			k.store(y, top, left, tile)
		}
	}
}

// pixels returns the pixels of phase (py, px) of an image.
func (k *winograd) pixels(x []float32, py, px int) []float32 {
	p := make([]float32, k.phase.C*k.phase.H*k.phase.W)
	for i := range p {
		row, column := i/k.phase.W%k.phase.H, i%k.phase.W
		p[i] = pixel(x, i/(k.phase.H*k.phase.W), py+k.every()*row, px+k.every()*column, k.l.H, k.l.W)
	}
	return p
}

// store sets the outputs of the tile at (top, left) that are inside the image.
func (k *winograd) store(y []float32, top, left int, tile func(o, y, x int) float32) {
	for i := range k.l.O * k.Side * k.Side {
		o, dy, dx := i/(k.Side*k.Side), i/k.Side%k.Side, i%k.Side
		if row, column := top+k.every()*dy, left+k.every()*dx; row < k.l.OH && column < k.l.OW {
			y[(o*k.l.OH+row)*k.l.OW+column] = tile(o, dy, dx)
		}
	}
}

// evenKernels reports whether all output channels have EvenWeights. Absolute weights are
// summed over the input channels in order.
func evenKernels(l Layer, kernel func(c, o int) []float32) bool {
	for o := range l.O {
		sizes := make([]float32, l.Kernel[0]*l.Kernel[1])
		most := uint32(0)
		for c := range l.C {
			for t, v := range kernel(c, o) {
				sizes[t] += math.Float32frombits(sizeBits(v))
				most = max(most, sizeBits(v))
			}
		}
		if !EvenWeights(sizes, math.Float32frombits(most)) {
			return false
		}
	}
	return true
}

// weightsOf returns the transformed weights, by output and input channel.
func (g Tiles) weightsOf(l Layer, kernel func(c, o int) []float32) [][][MostTile * MostTile]float32 {
	u := make([][][MostTile * MostTile]float32, l.O)
	for o := range u {
		u[o] = make([][MostTile * MostTile]float32, l.C)
		for c := range u[o] {
			g.TransformWeights(u[o][c][:], kernel(c, o))
		}
	}
	return u
}

// evenTile reports whether the tile with outputs that begin at (ty, tx) is an EvenTile.
func (g Tiles) evenTile(l Layer, image []float32, ty, tx int) bool {
	return g.Even(ty, tx, g.BlocksOf(ty, l.H), g.BlocksOf(tx, l.W), func(by, bx int) (float32, uint32) {
		y, x := g.BlockOf(by, l.H), g.BlockOf(bx, l.W)
		return BlockSize(block(l, image, y, x), block(l, image, y+1, x))
	})
}

// block returns the values of pixels (y, x) and (y, x+1), as [pixel][channel].
func block(l Layer, image []float32, y, x int) []float32 {
	values := make([]float32, 2*l.C)
	for i := range values {
		values[i] = pixel(image, i%l.C, y, x+i/l.C, l.H, l.W)
	}
	return values
}

// input returns the transformed tile of a channel for the outputs that begin at (ty, tx).
func (g Tiles) input(l Layer, image []float32, c, ty, tx int) (v [MostTile * MostTile]float32) {
	n := g.Tile()
	var half [MostTile][MostTile]float32
	var d, t [MostTile]float32
	for x := range n {
		for y := range n {
			d[y] = pixel(image, c, ty+y-g.Border(), tx+x-g.Border(), l.H, l.W)
		}
		g.TransformInput(t[:], d[:])
		for i := range n {
			half[i][x] = t[i]
		}
	}
	for i := range n {
		g.TransformInput(v[i*n:], half[i][:])
	}
	return v
}

// tile returns the outputs of a tile for every output channel. Rows are MostTile elements apart.
func (g Tiles) tile(l Layer, image []float32, u [][][MostTile * MostTile]float32,
	ty, tx int) [][MostTile * MostTile]float32 {
	v := make([][MostTile * MostTile]float32, l.C)
	for c := range v {
		v[c] = g.input(l, image, c, ty, tx)
	}
	outputs := make([][MostTile * MostTile]float32, l.O)
	for o := range outputs {
		var m [MostTile * MostTile]float32
		for f := range g.Tile() * g.Tile() {
			for from := 0; from < l.C; from += g.Block(l.C) {
				chain := float32(0)
				for c := from; c < from+g.Block(l.C); c++ {
					chain = Fuse(v[c][f], u[o][c][f], chain)
				}
				if from == 0 {
					m[f] = chain
				} else {
					m[f] += chain
				}
			}
		}
		g.output(outputs[o][:], m)
	}
	return outputs
}

// output sets y to the outputs of a tile, transformed back from its products m.
func (g Tiles) output(y []float32, m [MostTile * MostTile]float32) {
	n := g.Tile()
	var half [MostTile][MostTile]float32 // [column of the output][row of m]
	var t [MostTile]float32
	for i := range n {
		g.TransformOutput(t[:], m[i*n:])
		for x := range g.Side {
			half[x][i] = t[x]
		}
	}
	for x := range g.Side {
		g.TransformOutput(t[:], half[x][:])
		for row := range g.Side {
			y[row*MostTile+x] = t[row]
		}
	}
}
