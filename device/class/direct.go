package class

// direct is Direct: the rows of the kernel in the outer loop, then the channels, the
// columns of the kernel in the inner loop. Pixels outside of the image count as 0. Then the
// bias is added.
func (p product) direct(o, y, x int) float32 {
	sum := float32(0)
	for i := range p.Kernel[0] {
		for c := range p.C {
			for j := range p.Kernel[1] {
				sum = Fuse(p.input(c, y, x, i, j), p.weight(o, c, i, j), sum)
			}
		}
	}
	return p.biased(o, sum)
}
