package class

// gemm is the algorithm ImplicitGEMM. It also defines the algorithm Depthwise, where each group has one
// channel. The outer loop is over the taps of the kernel in row-major order, and the inner loop over the
// channels of the group. Pixels outside of the image count as 0. Then the bias is added.
func (p product) gemm(o, y, x int) float32 {
	cg, og := p.C/p.Groups, p.O/p.Groups
	sum := float32(0)
	for i := range p.Kernel[0] {
		for j := range p.Kernel[1] {
			for k := range cg {
				sum = Fuse(p.input(o/og*cg+k, y, x, i, j), p.weight(o, k, i, j), sum)
			}
		}
	}
	return p.biased(o, sum)
}

// phases does the same as gemm for the gradient of the input. The outer loop is over the taps through which
// an output reads pixel (y, x) of the input; these taps form the phase of the pixel. The inner
// loop is over the output channels. An output beyond the border counts as 0.
func (p product) phases(c, y, x int) float32 {
	cg, og := p.C/p.Groups, p.O/p.Groups
	sum := float32(0)
	for i := range p.Kernel[0] {
		for j := range p.Kernel[1] {
			oy, ox := y+p.Pad[0]-i*p.Dilation[0], x+p.Pad[1]-j*p.Dilation[1]
			if oy%p.Stride[0] != 0 || ox%p.Stride[1] != 0 {
				continue
			}
			for k := range og {
				o := c/cg*og + k
				dy := pixel(p.x, o, oy/p.Stride[0], ox/p.Stride[1], p.OH, p.OW)
				sum = Fuse(dy, p.weight(o, c%cg, i, j), sum)
			}
		}
	}
	return p.biased(c, sum)
}
