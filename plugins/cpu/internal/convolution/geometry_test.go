package convolution

import (
	"math/rand/v2"
	"testing"

	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
)

// TestOffsets checks that the estimated length of tables of offsets is the actual length.
func TestOffsets(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	for range 200 {
		pair := func(least, n int) [2]int { return [2]int{least + r.IntN(n), least + r.IntN(n)} }
		w := graph.Window{Groups: 1, Kernel: pair(1, 8), Dilation: pair(1, 3), Stride: pair(1, 4),
			Pad: [4]int{r.IntN(4), r.IntN(4), r.IntN(4), r.IntN(4)}}
		oh, ow := 1+r.IntN(6), 1+r.IntN(6)
		h := (oh-1)*w.Stride[0] + (w.Kernel[0]-1)*w.Dilation[0] + 1 - w.Pad[0] - w.Pad[2]
		width := (ow-1)*w.Stride[1] + (w.Kernel[1]-1)*w.Dilation[1] + 1 - w.Pad[1] - w.Pad[3]
		if h < 1 || width < 1 {
			continue
		}
		g := NewGeometry(w, []int{2, h, width}, []int{3, oh, ow})
		if got, want := g.offsets(class.Forward), len(g.forward().In); got != float64(want) {
			t.Errorf("%+v of %dx%d: forward %g, want %d", w, h, width, got, want)
		}
		want := 0
		for _, p := range g.backward() {
			want += len(p.window.In)
		}
		if got := g.offsets(class.Backward); got != float64(want) {
			t.Errorf("%+v of %dx%d: backward %g, want %d", w, h, width, got, want)
		}
	}
}

// Kernels of 8 by 8 that make an image of 1920x1080 or of 3840x2160 twice as large are accepted, and so
// are kernels of 3 by 3 over such an image. A kernel of 16 by 16 is refused.
func TestTooLarge(t *testing.T) {
	for _, test := range []struct {
		kernel, stride, height, width int
		product                       class.Product
		refused                       bool
	}{
		{8, 2, 1080, 1920, class.Backward, false},
		{8, 2, 2160, 3840, class.Backward, false},
		{3, 1, 2160, 3840, class.Forward, false},
		{16, 1, 2160, 3840, class.Forward, true},
		{16, 2, 2160, 3840, class.Backward, true},
	} {
		w := graph.Window{Groups: 1, Kernel: [2]int{test.kernel, test.kernel}, Dilation: [2]int{1, 1},
			Stride: [2]int{test.stride, test.stride}}
		oh, ow := (test.height-test.kernel)/test.stride+1, (test.width-test.kernel)/test.stride+1
		g := NewGeometry(w, []int{1, test.height, test.width}, []int{1, oh, ow})
		if why := g.TooLarge(test.product); (why != "") != test.refused {
			t.Errorf("%+v: %q", test, why)
		}
	}
}
