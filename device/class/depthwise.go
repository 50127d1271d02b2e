package class

// depthwiseRows is the algorithm DepthwiseRows. The chain of an output begins with the bias, and adds the
// products of the kernel's taps in row-major order. Taps in rows outside of the image are left out.
// Pixels in columns outside of the image count as 0.
func (p product) depthwiseRows(c, y, x int) float32 {
	sum := float32(0)
	if len(p.bias) > 0 {
		sum = p.bias[c]
	}
	for i := range p.Kernel[0] {
		if row := y*p.Stride[0] - p.Pad[0] + i; row < 0 || row >= p.H {
			continue
		}
		for j := range p.Kernel[1] {
			sum = Fuse(p.input(c, y, x, i, j), p.weight(c, 0, i, j), sum)
		}
	}
	return sum
}
