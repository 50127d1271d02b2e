package data

import (
	"bytes"
	"math"

	"github.com/bnctl/bnctl/tensor"
)

// canvas is a picture, or the mask of one, that operations change in place.
type canvas struct {
	plane
	mask   bool // its bytes are classes: they move, but have no colours
	beyond byte // value of pixels outside the source
}

// play computes dst from src by the operations of the augmentation. Each draws from a
// separate stream, so that neither its position nor the other operations change its draws.
func (a Augment) play(s scaling, dst, src plane, d *tensor.Draws, mask bool) {
	ops := a.operations()
	c := &canvas{plane: dst, mask: mask}
	if mask {
		c.beyond = ignored
	}
	if len(ops) > 0 && ops[0].name == resizedCrop {
		draws := d.Stream(ops[0].stream)
		scalePart(s.filter, c, src, randomPart(src.h, src.w, ops[0].args[0], ops[0].args[1], &draws))
	} else if mask {
		s.fitMask(dst, src)
	} else {
		s.fit(dst, src)
	}
	for _, op := range ops {
		if op.apply != nil {
			draws := d.Stream(op.stream)
			op.apply(c, op.args, &draws)
		}
	}
}

// scalePart scales a part of src to the size of c.
func scalePart(f Filter, c *canvas, src plane, crop box) {
	if c.mask {
		nearest(c.plane, src, crop, c.w, c.h, box{0, 0, c.w, c.h})
		return
	}
	resample(f, c.plane, src, crop, c.w, c.h, box{0, 0, c.w, c.h})
}

// clone returns a copy of the pixels of c.
func (c *canvas) clone() plane { return plane{c.h, c.w, c.c, bytes.Clone(c.pix)} }

// cropOperation shifts by up to args[0] pixels along each axis. It uses two draws.
func cropOperation(c *canvas, args []float64, d *tensor.Draws) {
	shiftRandomly(c.plane, c.clone(), int(args[0]), c.beyond, d)
}

// flipOperation uses two draws.
func flipOperation(c *canvas, args []float64, d *tensor.Draws) {
	if d.Float64() < args[0] {
		mirror(c.plane)
	}
}

// rotateOperation uses two draws.
func rotateOperation(c *canvas, args []float64, d *tensor.Draws) {
	c.rotate(d.Between(-args[0], args[0]))
}

// jitterOperation changes brightness, contrast and saturation, in this order, each by a
// factor from 1 minus its argument to 1 plus its argument. It uses six draws.
func jitterOperation(c *canvas, args []float64, d *tensor.Draws) {
	for i, change := range []func(plane, float64){brightness, contrast, saturation} {
		factor := d.Between(1-args[i], 1+args[i])
		if !c.mask {
			change(c.plane, factor)
		}
	}
}

// eraseOperation blackens a part of the picture. The labels of these pixels are ignored.
// Its share of the area is drawn, and the ratio of its sides from 0.3 to 3.3; after ten
// parts that don't fit, nothing is erased (Zhong et al. 2017, drawn as in torchvision's
// RandomErasing).
func eraseOperation(c *canvas, args []float64, d *tensor.Draws) {
	if d.Float64() >= args[0] {
		return
	}
	c.blacken(erasedPart(c.h, c.w, args[1], args[2], d))
}

// erasedPart draws a part of an h x w picture with a share of its area. It returns an empty
// part after ten parts that don't fit.
func erasedPart(height, width int, least, most float64, d *tensor.Draws) box {
	low, high := tensor.Log(0.3), tensor.Log(3.3)
	for range 10 {
		area := float64(float64(height*width) * d.Between(least, most))
		ratio := tensor.Exp(d.Between(low, high))
		h := int(math.RoundToEven(math.Sqrt(float64(area * ratio))))
		w := int(math.RoundToEven(math.Sqrt(area / ratio)))
		if h >= height || w >= width {
			continue
		}
		top, left := d.Intn(height-h+1), d.Intn(width-w+1)
		return box{left, top, w, h}
	}
	return box{}
}

// blacken replaces the pixels of a part by c.beyond.
func (c *canvas) blacken(b box) {
	for y := b.y; y < b.y+b.h; y++ {
		copy(c.row(y)[b.x*c.c:(b.x+b.w)*c.c], bytes.Repeat([]byte{c.beyond}, b.w*c.c))
	}
}
