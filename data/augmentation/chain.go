package augmentation

import (
	"bytes"
	"math"

	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/tensor"
)

// canvas is a picture, or the mask of a picture, that operations change in place.
type canvas struct {
	images.Plane
	mask   bool // the bytes are classes: operations that move pixels change it, operations on colours do not
	border byte // value of pixels outside of the source picture
}

// play makes dst from src by the operations of the augmentation. Each operation gets its draws from a
// separate stream of random numbers. So its draws depend neither on its position in the list nor on the other
// operations.
func (a Augmentation) play(s images.Scaling, dst, src images.Plane, d *tensor.Draws, mask bool) {
	c := &canvas{Plane: dst, mask: mask}
	if mask {
		c.border = Ignored
	}
	if len(a.ops) > 0 && a.ops[0].name == resizedCrop {
		draws := d.Stream(a.ops[0].stream)
		scalePart(s.Filter, c, src, randomPart(src.H, src.W, a.ops[0].args[0], a.ops[0].args[1], &draws))
	} else if mask {
		s.FitMask(dst, src)
	} else {
		s.Fit(dst, src)
	}
	for _, op := range a.ops {
		if op.apply != nil {
			draws := d.Stream(op.stream)
			op.apply(c, op.args, &draws)
		}
	}
}

// scalePart scales a part of src to the size of c.
func scalePart(f images.Filter, c *canvas, src images.Plane, crop images.Box) {
	if c.mask {
		images.Nearest(c.Plane, src, crop, c.W, c.H, c.Bounds())
		return
	}
	images.Resample(f, c.Plane, src, crop, c.W, c.H, c.Bounds())
}

// clone returns a copy of the pixels of c.
func (c *canvas) clone() images.Plane {
	return images.Plane{H: c.H, W: c.W, C: c.C, Pix: bytes.Clone(c.Pix)}
}

// cropOperation moves the picture by up to args[0] pixels along each axis. It uses two draws.
func cropOperation(c *canvas, args []float64, d *tensor.Draws) {
	shiftRandomly(c.Plane, c.clone(), int(args[0]), c.border, d)
}

// flipOperation mirrors the picture at random. It uses two draws.
func flipOperation(c *canvas, args []float64, d *tensor.Draws) {
	if d.Float64() < args[0] {
		mirror(c.Plane)
	}
}

// rotateOperation rotates the picture by a random angle. It uses two draws.
func rotateOperation(c *canvas, args []float64, d *tensor.Draws) {
	c.rotate(d.Between(-args[0], args[0]))
}

// jitterOperation changes brightness, contrast and saturation, in this order, each by a
// factor from 1 minus its argument to 1 plus its argument. It uses six draws.
func jitterOperation(c *canvas, args []float64, d *tensor.Draws) {
	for i, change := range []func(images.Plane, float64){brightness, contrast, saturation} {
		factor := d.Between(1-args[i], 1+args[i])
		if !c.mask {
			change(c.Plane, factor)
		}
	}
}

// eraseOperation makes a part of the picture black. The labels of its pixels are ignored. It draws the share
// of the area, and the ratio of the sides, from 0.3 to 3.3. If ten drawn parts in a row do not fit into the
// picture, nothing is erased (Zhong et al. 2017, drawn as in torchvision's RandomErasing).
func eraseOperation(c *canvas, args []float64, d *tensor.Draws) {
	if d.Float64() >= args[0] {
		return
	}
	c.blacken(erasedPart(c.H, c.W, args[1], args[2], d))
}

// erasedPart draws a part of an h x w picture, with a share of its area from minShare to maxShare. It
// returns an empty part if ten drawn parts in a row do not fit.
func erasedPart(height, width int, minShare, maxShare float64, d *tensor.Draws) images.Box {
	low, high := tensor.Log(0.3), tensor.Log(3.3)
	for range 10 {
		area := float64(float64(height*width) * d.Between(minShare, maxShare))
		ratio := tensor.Exp(d.Between(low, high))
		h := int(math.RoundToEven(math.Sqrt(float64(area * ratio))))
		w := int(math.RoundToEven(math.Sqrt(area / ratio)))
		if h >= height || w >= width {
			continue
		}
		top, left := d.Intn(height-h+1), d.Intn(width-w+1)
		return images.Box{X: left, Y: top, W: w, H: h}
	}
	return images.Box{}
}

// blacken sets the pixels of a part to c.beyond.
func (c *canvas) blacken(b images.Box) {
	for y := b.Y; y < b.Y+b.H; y++ {
		copy(c.Row(y)[b.X*c.C:(b.X+b.W)*c.C], bytes.Repeat([]byte{c.border}, b.W*c.C))
	}
}
