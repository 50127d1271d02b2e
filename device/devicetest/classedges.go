package devicetest

import (
	"fmt"
	"math"
	"slices"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// The guards of package class (EvenTile, EvenWeights, EvenChannel) compare sums with limits.
// The values here are chosen so that their sums are exactly at a limit, or one ulp beyond it.
// A device that rounds or adds differently uses another algorithm, which is visible in the bits.

const (
	ulpOf1 = 0x1p-23
	odd    = 1 + ulpOf1 // the last bit of its float32 is 1
)

// limits are values just within and just beyond the bounds for operands of tiles.
var limits = map[string]float64{
	"least": class.TileLeast, "below the least": class.TileLeast * (1 - ulpOf1/2),
	"most": class.TileMost, "above the most": class.TileMost * (1 + ulpOf1),
}

// beyond are the names of the limits that are outside of the bounds.
var beyond = []string{"below the least", "above the most"}

// signed returns v with a random sign.
func signed(d *tensor.Draws, v float64) float64 { return math.Copysign(v, float64(d.Intn(2))-0.5) }

// edges makes operands at the limits of the guards, for layers with these tiles.
type edges struct{ class.Tiles }

// edged returns a filler for images. The blocks of the first image just satisfy EvenTile, and the blocks
// of the second one just do not. The values of the other images are at the limits of the bounds. dilation
// divides height and width. If it is more than 1, phase 1 has the other kind of blocks than the rest of
// its image, and the values of each phase are twice as large as in the previous phase.
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

// outweighed fills images with the normal distribution, except for one much larger value in each image.
func outweighed(d *tensor.Draws, t tensor.Tensor) {
	normal(d, t)
	n := tensor.Count(t.Shape[1:])
	for i := range t.Shape[0] {
		t.F32()[i*n+d.Intn(n)] = 1e5
	}
}

// phase calls fill with an image of zeros that has the size of a phase, and copies the result into phase
// q of image.
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

// blocks gives every block of two by two pixels one nonzero value, in a random channel. If uneven
// is true, the sum of every second block is one ulp less than the largest value of the others.
func (e edges) blocks(d *tensor.Draws, image []float32, channels, height, width int, uneven bool) {
	for y := range height {
		for x := range width {
			if !e.seen(y, height) || !e.seen(x, width) {
				continue
			}
			c, v := d.Intn(channels), odd
			switch {
			case uneven && (y+x)/2%2 == 0:
				v = odd + ulpOf1 // one ulp less than the largest
			case uneven:
				v = odd + 2*ulpOf1
				image[((c+1)%channels*height+y)*width+x] = 1
			}
			image[(c*height+y)*width+x] = float32(signed(d, v))
		}
	}
}

// seen reports whether blocks have their nonzero value in row (or column) i of n. Each block
// of class.Tiles.BlockOf contains exactly one of these rows.
func (e edges) seen(i, n int) bool {
	if e.Kernel == 5 {
		return i%2 == 1
	}
	return i == 1 || i >= 4 && i%2 == 0 && i < n
}

// weighty returns a filler for weights. Each output channel has a tap that just satisfies EvenWeights. If
// even is false, the first channel also has a tap that just does not satisfy it.
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

// limited returns a filler that sets all elements to v with random signs.
func limited(v float64) filler {
	return func(d *tensor.Draws, t tensor.Tensor) { set(t, func(int) float64 { return signed(d, v) }) }
}

// channelEdges returns a filler that fills each channel according to its kind:
//
//	even, uneven       values that just satisfy, or just do not satisfy, EvenChannel
//	later              like even, from the second value on
//	whole              like even, up to the end of a row of tiles
//	last               like uneven, at the end
//	a name in limits   values of that size
//	lonely             a single value
//	""                 the normal distribution
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
					v = signed(d, e.pixel(of, row, p, t.Shape[2:]))
				}
				image[p] = float32(v)
			}
		}
	}
}

// pixel returns pixel p of a channel with shape (H, W), for a kind of channelEdges. The sum of nine
// values of the channel is exactly eight times the largest one, or one ulp less.
func (e edges) pixel(kind string, row, p int, shape []int) float64 {
	first := row == 0 || row == replicaRows[0] || row == sum(replicaRows[:3])
	switch kind {
	case "later":
		kind, p = "even", p-1
	case "whole": // the values are last in their row of tiles, so no later value hides a wrong sum
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

// faint returns a filler for channels that make the products of the last tile too small for float32. Rows
// [first, first+4) of an image are 1, the last four by four pixels are about 2^-80 with random signs, and
// all other pixels are 0. If the other operand has its ones in other rows, every product of the last tile
// is a zero. Its sign depends on the order of the sum.
func faint(first int) filler {
	return func(d *tensor.Draws, t tensor.Tensor) {
		height, width := t.Shape[2], t.Shape[3]
		for i := range t.F32() {
			y, x := i/width%height, i%width
			switch {
			case y >= first && y < first+4:
				t.F32()[i] = 1
			case y >= height-4 && x >= width-4:
				t.F32()[i] = float32(signed(d, d.Between(0x1p-81, 0x1p-79)))
			default:
				t.F32()[i] = 0
			}
		}
	}
}

// edgeProbes returns probes of layers with the tiles of Winograd4 and Winograd5.
func edgeProbes() []probe {
	large := edges{class.Winograd4.Tiles()}
	dilated := convolution{in: 32, out: 32, h: 14, w: 14, kh: 3, kw: 3, pad: [4]int{2, 2, 2, 2},
		dilation: [2]int{2, 2}}
	phases := func(s string, x operand, w filler) probe {
		return probe{"Winograd of 4x4, " + s, graph.Conv, dilated.attrs(),
			[]operand{x, whole(32, 32, 3, 3).filledBy(w)}, bits}
	}
	return slices.Concat(large.probes("Winograd of 4x4", 9, 7), []probe{
		phases("blocks of phases at the edge", rows(32, 14, 14).filledBy(large.edged(2)), normal),
		phases("one tile of a phase outweighed", rows(32, 13, 15).filledBy(outweighed), normal),
		phases("weights beyond the edge, dilation", rows(32, 14, 14).filledBy(normal), large.weighty(false)),
	}, edges{class.Winograd5.Tiles()}.probes("Winograd of 5x5", 24, 23))
}

// probes returns probes of layers with these tiles. Gradients for weights have images of height
// by width.
func (e edges) probes(algorithm string, height, width int) []probe {
	name := func(s string) string { return algorithm + ", " + s }
	pad, k := e.Border(), e.Kernel
	conv := convolution{in: 32, out: 32, h: 9, w: 10, kh: k, kw: k, pad: [4]int{pad, pad, pad, pad}}
	forward := func(s string, x, w filler) probe {
		return probe{name(s), graph.Conv, conv.attrs(), []operand{rows(32, 9, 10).filledBy(x),
			whole(32, 32, k, k).filledBy(w)}, bits}
	}
	all := []probe{forward("blocks at the edge", e.edged(1), normal),
		forward("one tile outweighed", outweighed, normal),
		forward("weights at the edge", normal, e.weighty(true)),
		forward("weights beyond the edge", normal, e.weighty(false))}
	backward := func(s string, x, dy func(int) string) probe {
		return probe{name(s), graph.ConvGradWeight, conv.attrs("kernel", []int{k, k}),
			[]operand{rows(32, height, width).filledBy(e.channelEdges(x)),
				rows(16, height, width).filledBy(e.channelEdges(dy))}, bits}
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
			[]operand{rows(32, 32, 24).filledBy(faint(0)), rows(16, 32, 24).filledBy(faint(12))}, bits})
	for _, s := range []string{"least", beyond[0], "most", beyond[1]} {
		all = append(all, forward(fmt.Sprintf("weights of %s", s), normal, limited(limits[s])))
	}
	for _, s := range beyond {
		all = append(all, backward("gradients "+s, usual, listed(s)))
	}
	return all
}
