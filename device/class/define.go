package class

import "slices"

// This file defines the products of class FMA in plain loops. Images have the shape
// [channels][height][width], and weights [O][C/groups][kernel height][kernel width], as in
// package graph. bias has a value for each channel of the result, or is empty. Every chain
// begins with +0 and adds each term with Fuse. The algorithm defines the order of the terms.

// DefineForward returns a function that sets y, [O][OH][OW], to the product of an
// image x, [C][H][W], with these weights, computed by algorithm a.
func DefineForward(l Layer, a Algorithm, w, bias []float32) func(y, x []float32) {
	p := product{Layer: l, w: w, bias: bias}
	switch a {
	case Winograd2, Winograd4, Winograd5:
		return newWinograd(p, a, l, p.kernel, product.gemm).image
	case Direct:
		return p.setAll(l.O, l.OH, l.OW, product.direct)
	case Depthwise, ImplicitGEMM:
		return p.setAll(l.O, l.OH, l.OW, product.gemm)
	case DepthwiseRows:
		return p.setAll(l.O, l.OH, l.OW, product.depthwiseRows)
	}
	panic("class: " + a.String() + " is defined by the CPU device")
}

// DefineBackward returns a function that sets dx, [C][H][W], to the gradient for
// the input of an image, computed by algorithm a from the gradient dy,
// [O][OH][OW].
func DefineBackward(l Layer, a Algorithm, w, bias []float32) func(dx, dy []float32) {
	p := product{Layer: l, w: w, bias: bias}
	back, _ := l.Flipped()
	switch a {
	case Winograd2, Winograd4, Winograd5:
		return newWinograd(p, a, back, func(o, c int) []float32 { return reversed(p.kernel(c, o)) },
			product.phases).image
	case Direct, DepthwiseRows:
		return DefineForward(back, a, l.flip(w), bias)
	case Depthwise, ImplicitGEMM:
		return p.setAll(l.C, l.H, l.W, product.phases)
	}
	panic("class: " + a.String() + " is defined by the CPU device")
}

// product holds the operands for one image: x is the image, or the gradient of the result.
type product struct {
	Layer
	x, w, bias []float32
}

// setAll returns a function that sets every element of the image y to the result of element for input x.
func (p product) setAll(channels, height, width int, element func(p product, channel, y,
	x int) float32) func(y,
	x []float32) {
	return func(y, x []float32) {
		p.x = x
		for i := range channels * height * width {
			y[i] = element(p, i/(height*width), i/width%height, i%width)
		}
	}
}

// biased returns sum plus the bias of the channel.
func (p product) biased(channel int, sum float32) float32 {
	if len(p.bias) > 0 {
		sum += p.bias[channel]
	}
	return sum
}

// pixel returns a value of an image of height by width, or 0 for positions outside of the image.
func pixel(image []float32, channel, y, x, height, width int) float32 {
	if y < 0 || y >= height || x < 0 || x >= width {
		return 0
	}
	return image[(channel*height+y)*width+x]
}

// input returns the value of the input that tap (i, j) of the kernel multiplies for output (y, x).
func (p product) input(channel, y, x, i, j int) float32 {
	return pixel(p.x, channel, y*p.Stride[0]-p.Pad[0]+i*p.Dilation[0], x*p.Stride[1]-p.Pad[1]+j*p.Dilation[1],
		p.H, p.W)
}

// kernel returns the weights of output channel o for input channel c, of a convolution
// with one group.
func (p product) kernel(c, o int) []float32 {
	taps := p.Kernel[0] * p.Kernel[1]
	return p.w[(o*p.C+c)*taps:][:taps]
}

// weight returns the weight of output channel o for channel k of its group at a tap.
func (p product) weight(o, k, i, j int) float32 {
	return p.w[((o*(p.C/p.Groups)+k)*p.Kernel[0]+i)*p.Kernel[1]+j]
}

// flip returns w as the weights of l.Flipped().
func (l Layer) flip(w []float32) []float32 {
	taps := l.Kernel[0] * l.Kernel[1]
	cg, og := l.C/l.Groups, l.O/l.Groups
	flipped := make([]float32, len(w))
	for o := range l.O {
		for k := range cg {
			group := o / og
			to := ((group*cg+k)*og + o%og) * taps
			copy(flipped[to:], reversed(w[(o*cg+k)*taps:][:taps]))
		}
	}
	return flipped
}

// reversed returns the values in reverse order.
func reversed(w []float32) []float32 {
	r := slices.Clone(w)
	slices.Reverse(r)
	return r
}
