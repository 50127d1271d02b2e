package class

// direct is the algorithm Direct. The outer loop is over the rows of the kernel, the middle
// one over the channels, and the inner one over the columns of the kernel. Pixels outside of
// the image count as 0. Then the bias is added.
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
