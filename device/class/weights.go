package class

import "math"

// ChunkPositions is the smallest number of output positions in a chunk of rows, except for
// the last chunk. The gradient for a weight is one chain over a chunk: see DefineWeights.
const ChunkPositions = 4096

// DefineWeights sets dw to the gradient for the weight, computed by algorithm a from
// the rows x of one replica and the gradients dy of their results. x and dy are sequences
// of images. The rows are cut into chunks of ceil(4096 / positions) rows, where positions is
// OH*OW. The gradients of the chunks are added along the tree.
func DefineWeights(l Layer, a Algorithm, dw, x, dy []float32) {
	in, out := l.C*l.H*l.W, l.O*l.OH*l.OW
	rows, some := len(dy)/out, ceil(ChunkPositions, l.OH*l.OW)
	if rows == 0 {
		clear(dw)
		return
	}
	copy(dw, alongTree(ceil(rows, some), func(i int) []float32 {
		from, to := i*some, min((i+1)*some, rows)
		g := gradient{Layer: l, x: x[from*in : to*in], dy: dy[from*out : to*out], rows: to - from}
		return g.compute(a, len(dw))
	}, func(a, b []float32) []float32 {
		for i, v := range b {
			a[i] += v
		}
		return a
	}))
}

// compute returns the gradient for the n weights in a chunk of rows, computed by algorithm a.
func (g gradient) compute(a Algorithm, n int) []float32 {
	dw := make([]float32, n)
	switch a {
	case ImplicitGEMM, Direct, Depthwise:
		taps := g.Kernel[0] * g.Kernel[1]
		for i := range dw {
			dw[i] = g.chain(i/taps/(g.C/g.Groups), i/taps%(g.C/g.Groups), i%taps)
		}
	case Winograd4, Winograd5:
		g.winograd(a.Tiles(), dw)
	default:
		panic("class: " + a.String() + " is defined by the CPU device")
	}
	return dw
}

// gradient has the operands of the gradient for the weight in one chunk of rows.
type gradient struct {
	Layer
	x, dy []float32
	rows  int
}

// image returns row r of the operands.
func (g gradient) image(r int) (x, dy []float32) {
	in, out := g.C*g.H*g.W, g.O*g.OH*g.OW
	return g.x[r*in:][:in], g.dy[r*out:][:out]
}

// chain returns the gradient for one weight: one chain of fused multiply-adds over the positions of all
// rows, in order. Pixels outside of an image count as 0.
func (g gradient) chain(o, k, tap int) float32 {
	cg, og := g.C/g.Groups, g.O/g.Groups
	sum := float32(0)
	for r := range g.rows {
		x, dy := g.image(r)
		p := product{Layer: g.Layer, x: x}
		for i := range g.OH * g.OW {
			v := p.input(o/og*cg+k, i/g.OW, i%g.OW, tap/g.Kernel[1], tap%g.Kernel[1])
			sum = Fuse(v, dy[o*g.OH*g.OW+i], sum)
		}
	}
	return sum
}

// winograd computes the gradients by tiles, except for input channels that are not even
// (EvenChannel): their gradients are chains. It computes all gradients as chains if more
// than a quarter of the input channels or any output channel is not even, or if there are
// fewer than MinTiles tiles.
func (g gradient) winograd(t Tiles, dw []float32) {
	var odd []int
	for c := range g.C {
		if !g.even(t, g.x, c, g.C, g.H, g.W) {
			odd = append(odd, c)
		}
	}
	apart := len(odd) > g.C/4 || g.rows*ceil(g.OH, t.Side)*ceil(g.OW, t.Side) < t.MinTiles()
	for o := range g.O {
		apart = apart || !g.even(t, g.dy, o, g.O, g.OH, g.OW)
	}
	if apart {
		copy(dw, g.compute(ImplicitGEMM, len(dw)))
		return
	}
	g.tiles(t, dw)
	for _, c := range odd {
		for i, n := 0, t.Taps(); i < g.O*n; i++ {
			dw[(i/n*g.C+c)*n+i%n] = g.chain(i/n, c, i%n)
		}
	}
}

// tiles computes all gradients by tiles. Every frequency, which is an element of the transformed tiles,
// has one chain over the tiles of all rows, in order, or one chain for each block of tiles
// (Tiles.ChainRows).
func (g gradient) tiles(t Tiles, dw []float32) {
	n, high := t.Tile()*t.Tile(), ceil(g.OH, t.Side)
	sums, chain := make([]float32, g.C*g.O*n), make([]float32, g.C*g.O*n)
	some := t.ChainRows(ceil(g.OW, t.Side))
	for row := range g.rows * high {
		x, dy := g.image(row / high)
		for tx := 0; tx < g.OW; tx += t.Side {
			g.tile(t, chain, x, dy, row%high*t.Side, tx)
		}
		if last := row == g.rows*high-1; some > 0 && (last || row%some == some-1) {
			for i, v := range chain {
				sums[i] += v
			}
			clear(chain)
		}
	}
	if some == 0 {
		sums = chain // not +0 + chain, which would change the sign of a negative zero
	}
	for i := range g.O * g.C {
		t.KernelGradient(dw[i*t.Taps():][:t.Taps()], sums[i*n:][:n])
	}
}

// tile adds the products of one tile to sums.
func (g gradient) tile(t Tiles, sums, x, dy []float32, ty, tx int) {
	n := t.Tile() * t.Tile()
	v := make([][MostTile * MostTile]float32, g.C)
	for c := range v {
		v[c] = t.input(g.Layer, x, c, ty, tx)
	}
	for o := range g.O {
		d := t.gradient(g.Layer, dy, o, ty, tx)
		for c := range v {
			for f := range n {
				at := (o*g.C+c)*n + f
				sums[at] = Fuse(v[c][f], d[f], sums[at])
			}
		}
	}
}

// gradient returns the transformed tile of the gradient dy of output channel o.
func (t Tiles) gradient(l Layer, dy []float32, o, ty, tx int) (v [MostTile * MostTile]float32) {
	n := t.Tile()
	var half [MostTile][MostTile]float32
	var d, p [MostTile]float32
	for x := range t.Side {
		for y := range t.Side {
			d[y] = pixel(dy, o, ty+y, tx+x, l.OH, l.OW)
		}
		t.TransformGradient(p[:], d[:])
		for i := range n {
			half[i][x] = p[i]
		}
	}
	for i := range n {
		t.TransformGradient(v[i*n:], half[i][:])
	}
	return v
}

// even reports whether a channel is an EvenChannel. The absolute values are summed in order within each
// band of t.Side rows of an image, and then the sums of the bands are added in order.
func (g gradient) even(t Tiles, images []float32, channel, channels, height, width int) bool {
	size, most := float32(0), uint32(0)
	for r := range g.rows {
		image := images[(r*channels+channel)*height*width:][:height*width]
		for y := 0; y < height; y += t.Side {
			band := float32(0)
			for _, v := range image[y*width : min(y+t.Side, height)*width] {
				band += math.Float32frombits(sizeBits(v))
				most = max(most, sizeBits(v))
			}
			size += band
		}
	}
	return EvenChannel(size, math.Float32frombits(most))
}
