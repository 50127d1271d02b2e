package devicetest

import (
	"fmt"
	"math"
	"slices"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// The guards of package class compare sums with limits. The values here are not random:
// their sums are exactly at a limit, or one ulp on the other side. A device that rounds or
// adds differently decides differently, and the decision is visible in the bits.

const (
	ulpOf1 = 0x1p-23
	odd    = 1 + ulpOf1 // its neighbour with the last bit changed is below
)

// limits are largest values within and beyond the bounds that tiles have.
var limits = map[string]float64{
	"least": class.TileLeast, "below the least": class.TileLeast * (1 - ulpOf1/2),
	"most": class.TileMost, "above the most": class.TileMost * (1 + ulpOf1),
}

// beyond are the limits that no tile keeps.
var beyond = []string{"below the least", "above the most"}

// signed is a value with a sign that is drawn.
func signed(d *tensor.Draws, v float64) float64 { return math.Copysign(v, float64(d.Intn(2))-0.5) }

// edges are layers with tiles that have operands at the edges of their guards.
type edges struct{ class.Tiles }

// edged returns a filler for images. The first has blocks that just satisfy EvenTile, the
// second has blocks that do not, and the others have values at the limits. With dilation,
// which divides height and width, phase 1 is as in the other image, and each is twice as
// large as the one before.
func (e edges) edged(dilation int) filler {
	return func(d *tensor.Draws, t tensor.Tensor) {
		kinds := []string{"", "", "least", "below the least", "most", "above the most"}
		n := tensor.Count(t.Shape[1:])
		for i := range t.Shape[0] {
			image := t.F32()[i*n:][:n]
			clear(image)
			if limit, ok := limits[kinds[i%len(kinds)]]; ok {
				for k := range image {
					image[k] = float32(signed(d, limit))
				}
				continue
			}
			for q := range dilation * dilation {
				phase(image, t.Shape[1:], dilation, q, func(image []float32, channels, height, width int) {
					e.blocks(d, image, channels, height, width, (i%2 == 1) != (q == 1))
					for k := range image {
						image[k] *= float32(int(1) << q)
					}
				})
			}
		}
	}
}

// outweighed fills images normally, except for one value of each, which outweighs the others.
func outweighed(d *tensor.Draws, t tensor.Tensor) {
	normal(d, t)
	n := tensor.Count(t.Shape[1:])
	for i := range t.Shape[0] {
		t.F32()[i*n+d.Intn(n)] = 1e5
	}
}

// phase sets phase q of an image to the output of fill on zeros.
func phase(image []float32, shape []int, dilation, q int, fill func(image []float32, channels, height,
	width int)) {
	height, width := shape[1]/dilation, shape[2]/dilation
	pixels := make([]float32, shape[0]*height*width)
	fill(pixels, shape[0], height, width)
	for i, v := range pixels {
		channel, y, x := i/(height*width), i/width%height*dilation+q/dilation, i%width*dilation+q%dilation
		image[(channel*shape[1]+y)*shape[2]+x] = v
	}
}

// blocks gives every block of two by two pixels one value of all its channels: the
// same everywhere, or in every other block one ulp less than the largest.
func (e edges) blocks(d *tensor.Draws, image []float32, channels, height, width int, apart bool) {
	for y := range height {
		for x := range width {
			if !e.seen(y, height) || !e.seen(x, width) {
				continue
			}
			c, v := d.Intn(channels), odd
			switch {
			case apart && (y+x)/2%2 == 0:
				v = odd + ulpOf1 // one ulp less than the largest
			case apart:
				v = odd + 2*ulpOf1
				image[((c+1)%channels*height+y)*width+x] = 1
			}
			image[(c*height+y)*width+x] = float32(signed(d, v))
		}
	}
}

// seen reports whether blocks have their value in row, or column, i of n: each of
// class.Tiles.BlockOf has just one of these.
func (e edges) seen(i, n int) bool {
	if e.Kernel == 5 {
		return i%2 == 1
	}
	return i == 1 || i >= 4 && i%2 == 0 && i < n
}

// weighty fills weights: each output channel has a tap that just does for
// EvenWeights, or the first has one that does not.
func (e edges) weighty(even bool) filler {
	return func(d *tensor.Draws, t tensor.Tensor) {
		in, taps := t.Shape[1], e.Taps()
		set(t, func(int) float64 { return d.Between(-2, 2) })
		for o := range t.Shape[0] {
			w := t.F32()[o*in*taps:][:in*taps]
			for k := range in {
				w[k*taps+o%taps] = 0
			}
			least, most := odd, float64(4*odd)
			if o == 0 && !even {
				least, most = odd+ulpOf1, 4*(odd+2*ulpOf1)
			}
			w[(in-1-o*7%in)*taps+o%taps] = float32(signed(d, least))
			w[o*5%in*taps+(o+1)%taps] = float32(signed(d, most))
		}
	}
}

// limited fills a tensor with values of one size.
func limited(v float64) filler {
	return func(d *tensor.Draws, t tensor.Tensor) { set(t, func(int) float64 { return signed(d, v) }) }
}

// channelEdges fills channels: "even" and "uneven" with values that just satisfy, or do not
// satisfy, EvenChannel, "later" like "even" from the second value on, "whole" like "even"
// up to the end of a row of tiles, "last" like "uneven" at the end; those named after a
// limit with values of that size; "lonely" with one value each; and the rest, normally.
func (e edges) channelEdges(kind func(channel int) string) filler {
	return func(d *tensor.Draws, t tensor.Tensor) {
		pixels := tensor.Count(t.Shape[2:])
		for i := range t.Count() / pixels {
			row, image := i/t.Shape[1], t.F32()[i*pixels:][:pixels]
			of := kind(i % t.Shape[1])
			for p := range image {
				v := d.Normal()
				if limit, ok := limits[of]; ok {
					v = signed(d, limit)
				} else if of != "" {
					v = signed(d, e.of(of, row, p, t.Shape[2:]))
				}
				image[p] = float32(v)
			}
		}
	}
}

// of returns pixel p of a channel with shape (H, W). Nine values of the channel add up,
// exactly, to eight times the largest one, or to one ulp less.
func (e edges) of(kind string, row, p int, shape []int) float64 {
	first := row == 0 || row == replicaRows[0] || row == sum(replicaRows[:3])
	switch kind {
	case "later":
		kind, p = "even", p-1
	case "whole": // no later value makes up for a last sum that is wrong
		kind, p = "even", p-(e.Side*shape[1]-9)
	case "last":
		p -= tensor.Count(shape) - 9
	}
	switch {
	case !first || p < 0 || p > 8 || kind == "lonely" && p > 0:
		return 0
	case kind == "lonely" || p == 1:
		return odd
	case p > 1:
		return 1
	case kind == "even":
		return 7 * ulpOf1 // 8 * odd - 7 - odd
	}
	return 0
}

// faint fills channels so that all products in tiles are too small for float32: rows [from,
// from+4) of an image are 1, its last four by four pixels about 2^-80 of either sign, all
// else 0. If the other operand has no ones where this one has them, every frequency of the
// last tile is a zero, and its sign depends on the order of the sum.
func faint(from int) filler {
	return func(d *tensor.Draws, t tensor.Tensor) {
		height, width := t.Shape[2], t.Shape[3]
		for i := range t.F32() {
			y, x := i/width%height, i%width
			switch {
			case y >= from && y < from+4:
				t.F32()[i] = 1
			case y >= height-4 && x >= width-4:
				t.F32()[i] = float32(signed(d, d.Between(0x1p-81, 0x1p-79)))
			default:
				t.F32()[i] = 0
			}
		}
	}
}

// edgeProbes are layers with tiles of 4x4 and of 5x5.
func edgeProbes() []probe {
	large := edges{class.Winograd4.Tiles()}
	dilated := convolution{in: 32, out: 32, h: 14, w: 14, kh: 3, kw: 3, pad: [4]int{2, 2, 2, 2},
		dilation: [2]int{2, 2}}
	phases := func(s string, x operand, w filler) probe {
		return probe{"Winograd of 4x4, " + s, graph.Conv, dilated.attrs(),
			[]operand{x, whole(32, 32, 3, 3).with(w)}, bits}
	}
	return slices.Concat(large.probes("Winograd of 4x4", 9, 7), []probe{
		phases("blocks of phases at the edge", rows(32, 14, 14).with(large.edged(2)), normal),
		phases("one tile of a phase outweighed", rows(32, 13, 15).with(outweighed), normal),
		phases("weights beyond the edge, dilation", rows(32, 14, 14).with(normal), large.weighty(false)),
	}, edges{class.Winograd5.Tiles()}.probes("Winograd of 5x5", 24, 23))
}

// probes are layers with these tiles, gradients for weights of images of height by width.
func (e edges) probes(algorithm string, height, width int) []probe {
	name := func(s string) string { return algorithm + ", " + s }
	pad, k := e.Border(), e.Kernel
	conv := convolution{in: 32, out: 32, h: 9, w: 10, kh: k, kw: k, pad: [4]int{pad, pad, pad, pad}}
	forward := func(s string, x, w filler) probe {
		return probe{name(s), graph.Conv, conv.attrs(), []operand{rows(32, 9, 10).with(x),
			whole(32, 32, k, k).with(w)}, bits}
	}
	all := []probe{forward("blocks at the edge", e.edged(1), normal),
		forward("one tile outweighed", outweighed, normal),
		forward("weights at the edge", normal, e.weighty(true)),
		forward("weights beyond the edge", normal, e.weighty(false))}
	backward := func(s string, x, dy func(int) string) probe {
		return probe{name(s), graph.ConvGradWeight, conv.attrs("kernel", []int{k, k}),
			[]operand{rows(32, height, width).with(e.channelEdges(x)),
				rows(16, height, width).with(e.channelEdges(dy))}, bits}
	}
	usual := func(int) string { return "" }
	listed := func(of ...string) func(int) string {
		return func(c int) string { return append(of, make([]string, 16)...)[c%16] }
	}
	some := func(n int) func(int) string {
		return func(c int) string {
			if c < n {
				return "lonely"
			}
			return ""
		}
	}
	all = append(all,
		backward("channels at the edge", listed("even", "uneven", "least", beyond[0], "most", beyond[1], "later",
			"whole", "last"), usual),
		backward("gradients at the edge", usual, listed("even", "least", "most", "later", "whole")),
		backward("gradients beyond the edge", usual, listed("uneven")),
		backward("a quarter of the channels uneven", some(8), usual),
		backward("more than a quarter of the channels uneven", some(9), usual),
		probe{name("sums that vanish"), graph.ConvGradWeight, conv.attrs("kernel", []int{k, k}),
			[]operand{rows(32, 32, 24).with(faint(0)), rows(16, 32, 24).with(faint(12))}, bits})
	for _, s := range []string{"least", beyond[0], "most", beyond[1]} {
		all = append(all, forward(fmt.Sprintf("weights of %s", s), normal, limited(limits[s])))
	}
	for _, s := range beyond {
		all = append(all, backward("gradients "+s, usual, listed(s)))
	}
	return all
}
