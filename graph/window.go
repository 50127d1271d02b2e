package graph

import "fmt"

// Window holds the attributes of a convolution or a pool: height first, then
// width.
type Window struct {
	Kernel, Stride, Dilation [2]int
	Pad                      [4]int // top, left, bottom, right
	Groups                   int
}

// Extent returns the output length along axis 0 (height) or 1 (width) for an
// input of length n. It is less than 1 if the window does not fit.
func (w Window) Extent(axis, n int) int {
	span := w.Dilation[axis]*(w.Kernel[axis]-1) + 1
	positions := n + w.Pad[axis] + w.Pad[axis+2] - span
	if positions < 0 {
		return 0
	}
	return positions/w.Stride[axis] + 1
}

// window reads the window attributes of a convolution with the given kernel.
func (c *inference) window(kh, kw int) (Window, error) {
	w := Window{Kernel: [2]int{kh, kw}, Dilation: [2]int{1, 1}, Groups: 1}
	stride, err := c.wantInts("stride", 2, 1)
	if err != nil {
		return w, err
	}
	pad, err := c.wantInts("pad", 4, 0)
	if err != nil {
		return w, err
	}
	copy(w.Stride[:], stride)
	copy(w.Pad[:], pad)
	if kh < 1 || kw < 1 || kh > maxLength || kw > maxLength {
		return w, fmt.Errorf("kernel %dx%d", kh, kw)
	}
	if poolOp(c.node.Op) {
		return w, nil
	}
	dilation, err := c.wantInts("dilation", 2, 1)
	if err != nil {
		return w, err
	}
	copy(w.Dilation[:], dilation)
	w.Groups = c.node.Int("groups")
	if w.Groups < 1 || w.Groups > maxLength {
		return w, fmt.Errorf("attribute groups is %d, want 1 to %d", w.Groups, maxLength)
	}
	return w, nil
}

func poolOp(o Op) bool {
	switch o {
	case MaxPool, MaxPoolGrad, AvgPool, AvgPoolGrad, MaxPoolInt8, AvgPoolInt8:
		return true
	}
	return false
}

// WindowOf returns the window of a checked convolution or pool node of f.
func (f *Function) WindowOf(n *Node) Window {
	var w Window
	var err error
	c := &inference{fn: f, node: n}
	switch n.Op {
	case Conv, ConvGradInput, ConvTranspose, ConvInt8:
		s := c.in(1).Shape
		w, err = c.window(s[2], s[3])
	default:
		k := n.Ints("kernel")
		w, err = c.window(k[0], k[1])
	}
	if err != nil {
		panic("graph: WindowOf: node was not checked: " + err.Error())
	}
	return w
}
