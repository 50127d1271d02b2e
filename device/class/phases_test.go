package class_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/class"
	"github.com/bnctl/bnctl/graph"
)

// dilated returns the layer of a convolution of 3 by 3 that keeps the size of its image.
func dilated(dilation, in, out, high, wide int) class.Layer {
	d := dilation
	return class.Layer{Window: graph.Window{Kernel: [2]int{3, 3}, Stride: [2]int{1, 1}, Dilation: [2]int{d, d},
		Pad: [4]int{d, d, d, d}, Groups: 1}, C: in, H: high, W: wide, O: out, OH: high, OW: wide}
}

// TestChooseOfPhases checks which convolutions with dilation use tiles, in the forward pass and
// for the gradient of the input.
func TestChooseOfPhases(t *testing.T) {
	uneven := dilated(2, 64, 64, 32, 32)
	uneven.Dilation = [2]int{2, 1}
	padded := dilated(2, 64, 64, 32, 32)
	padded.Pad = [4]int{2, 2, 2, 1}
	for _, c := range []struct {
		name  string
		layer class.Layer
		want  class.Algorithm
	}{
		{"layer3 of deeplabv3", dilated(2, 256, 256, 32, 32), class.Winograd4},
		{"layer4 of deeplabv3", dilated(4, 512, 512, 32, 32), class.Winograd4},
		{"wider layers", dilated(4, 1024, 512, 32, 32), class.ImplicitGEMM},
		{"images that the dilation does not divide", dilated(3, 32, 48, 22, 25), class.Winograd4},
		{"phases of 3 by 3, mostly padding", dilated(12, 256, 256, 32, 32), class.ImplicitGEMM},
		{"phases of 4 by 4", dilated(12, 256, 256, 48, 48), class.Winograd4},
		{"a phase of one pixel", dilated(36, 256, 256, 32, 32), class.ImplicitGEMM},
		{"few channels", dilated(2, 16, 64, 32, 32), class.ImplicitGEMM},
		{"uneven dilation", uneven, class.ImplicitGEMM},
		{"other padding", padded, class.ImplicitGEMM},
	} {
		for _, product := range []class.Product{class.Forward, class.Backward} {
			c.layer.Product = product
			want := c.want
			if c.name == "few channels" && product == class.Backward { // this product sums over 64 channels
				want = class.Winograd4
			}
			if got := class.Choose(c.layer, device.F32, class.FMA); got != want {
				t.Errorf("%s, product %d: %v, want %v", c.name, product, got, want)
			}
			if got := class.Choose(c.layer, device.BF16, class.FMA); got != class.Dot2 {
				t.Errorf("%s, product %d, bf16: %v", c.name, product, got)
			}
		}
		c.layer.Product = class.Weights
		if got := class.Choose(c.layer, device.F32, class.FMA); got != class.ImplicitGEMM {
			t.Errorf("%s, gradient for the weight: %v", c.name, got)
		}
	}
}

// TestPhasesPrecision checks the precision that docs/numerics.md, section 5, promises for tiles of
// phases. The root mean square error, relative to the sum of |x||w|, is at most twice the error of a
// chain of multiply-adds.
func TestPhasesPrecision(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 2))
	for _, l := range []class.Layer{dilated(2, 32, 48, 15, 18), dilated(3, 64, 32, 22, 25)} {
		for _, product := range []class.Product{class.Forward, class.Backward} {
			l.Product = product
			define, in, out := class.DefineForward, l.C, l.O
			if product == class.Backward {
				define, in, out = class.DefineBackward, l.O, l.C
			}
			x, w := normals(r, in*l.H*l.W), normals(r, l.O*l.C*9)
			got, chains := make([]float32, out*l.H*l.W), make([]float32, out*l.H*l.W)
			define(l, class.Winograd4, w, nil)(got, x)
			define(l, class.ImplicitGEMM, w, nil)(chains, x)
			ours, theirs := 0.0, 0.0
			for i, v := range got {
				want, size := exact(l, x, w, i)
				ours += math.Pow((float64(v)-want)/size, 2)
				theirs += math.Pow((float64(chains[i])-want)/size, 2)
			}
			ratio := math.Sqrt(ours / theirs)
			t.Logf("product %d, %d to %d channels, dilation %d: error %.2f times that of a chain", product, in,
				out, l.Dilation[0], ratio)
			if !(ratio < 2) {
				t.Errorf("product %d, dilation %d: error %.2f times that of a chain", product, l.Dilation[0], ratio)
			}
		}
	}
}

// normals returns n values of the normal distribution.
func normals(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// exact returns element i of the result in float64, and the sum of the absolute values of the products
// that it adds.
func exact(l class.Layer, x, w []float32, i int) (sum, size float64) {
	in, step, sign := l.C, [2]int{l.C * 9, 9}, 1 // step: distance in w between channels of the result, and of x
	if l.Product == class.Backward {
		in, step, sign = l.O, [2]int{9, l.C * 9}, -1
	}
	channel, row, column, d := i/(l.H*l.W), i/l.W%l.H, i%l.W, l.Dilation[0]
	for k := range in {
		for tap := range 9 {
			y, c := row+sign*(tap/3-1)*d, column+sign*(tap%3-1)*d
			if y >= 0 && y < l.H && c >= 0 && c < l.W {
				v := float64(x[(k*l.H+y)*l.W+c]) * float64(w[channel*step[0]+k*step[1]+tap])
				sum, size = sum+v, size+math.Abs(v)
			}
		}
	}
	return sum, size
}
