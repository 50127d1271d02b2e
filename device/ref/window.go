package ref

import "github.com/bnctl/bnctl/graph"

// tap is the work of one kernel element for one line of the output: n pairs of an element of
// the input image and an element of the output.
type tap struct {
	kernel int // ky*kw + kx
	in     int // first element of the input: iy*W + ix
	step   int // distance between two input elements
	out    int // first element of the output: oy*W' + ox; the other elements follow it
	n      int
}

// taps lists all pairs of elements that a window over an image of size (H, W) connects, in
// row-major order of the kernel, then of the output. Pairs with padding are left out.
func taps(w graph.Window, size, out [2]int) []tap {
	var list []tap
	for ky := range w.Kernel[0] {
		for kx := range w.Kernel[1] {
			left := kx*w.Dilation[1] - w.Pad[1]
			from, to := inside(left, w.Stride[1], size[1], out[1])
			for oy := range out[0] {
				iy := oy*w.Stride[0] + ky*w.Dilation[0] - w.Pad[0]
				if iy < 0 || iy >= size[0] || from >= to {
					continue
				}
				list = append(list, tap{kernel: ky*w.Kernel[1] + kx, in: iy*size[1] + from*w.Stride[1] + left,
					step: w.Stride[1], out: oy*out[1] + from, n: to - from})
			}
		}
	}
	return list
}

// inside returns the range of ox in [0, out) with 0 <= ox*stride + left < size.
func inside(left, stride, size, out int) (from, to int) {
	for from < out && from*stride+left < 0 {
		from++
	}
	for to = from; to < out && to*stride+left < size; {
		to++
	}
	return from, to
}
