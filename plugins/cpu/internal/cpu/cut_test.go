package cpu

import (
	"testing"

	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/tensor"
)

// A row that is cut for several workers is complete and has the same bits as with one worker. Among the
// cases are pieces smaller than a worker's share, panels of different widths, a last tile of one
// position, and the gradient of an image of one line.
func TestCutRows(t *testing.T) {
	for _, c := range []opCase{
		{"heavy panels of 64, 64 and 32 channels", "state w f32[160,960,1,1] constant\n", "x rows f32[960,7,7]",
			"  y = conv(x, @w)\n"},
		{"light panels of 64 and 16 channels", "state w f32[80,128,1,1] constant\n", "x rows f32[128,7,7]",
			"  y = conv(x, @w)\n"},
		{"more pieces than workers, heavy", "state w f32[512,264,1,1] constant\n", "x rows f32[264,20,20]",
			"  y = conv(x, @w)\n"},
		{"more pieces than workers, light, in a chain", "state w f32[256,264,1,1] constant\n",
			"x rows f32[264,20,20]", "  a = conv(x, @w)\n  y = silu(a)\n"},
		{"groups", "state w f32[48,80,3,3] constant\n", "x rows f32[160,7,9]",
			"  y = conv(x, @w, pad=[1,1,1,1], groups=2)\n"},
		{"a gradient of one line, heavy", "state w f32[256,256,3,3] constant\n", "x rows f32[256,1,9]",
			"  y = conv_grad_input(x, @w, stride=[2,2], pad=[1,1,1,1], size=[1,17])\n"},
		{"a gradient of one line, light", "state w f32[128,64,3,3] constant\n", "x rows f32[128,1,33]",
			"  y = conv_grad_input(x, @w, stride=[2,2], pad=[1,1,1,1], size=[1,65])\n"},
		{"channels side by side", "", "x rows f32[58,28,28]", "  a = relu(x)\n  y = concat(x, a, x)\n"},
		{"rows side by side", "", "x rows f32[58,28,28]", "  a = relu(x)\n  y = concat(x, a, x, axis=1)\n"},
		{"every other pixel", "", "x rows f32[13,95,90]",
			"  a = relu(x)\n  y = slice(a, begin=[2,1,0], end=[12,95,90], step=[1,2,2])\n"},
		{"averages, by channels", "", "x rows f32[58,70,70]", "  a = relu(x)\n  y = global_avg_pool(a)\n"},
		{"averages of 184 channels, no multiple of 16", "", "x rows f32[184,14,14]",
			"  a = relu(x)\n  y = global_avg_pool(a)\n"},
		{"averages of less channels than workers", "", "x rows f32[3,90,95]",
			"  a = relu(x)\n  y = global_avg_pool(a)\n"},
		{"channels that repeat", "state c f32[13,1,1] constant\n", "x rows f32[13,61,60]", "  y = sub(@c, x)\n"},
		{"more channels than a pattern has", "state c f32[1100,1,1] constant\n",
			"x rows f32[1100,7,9], n rows f32[1,1,1]",
			"  y = where(x, @c, n)\n"},
		{"one channel for all", "", "x rows f32[1,61,60]",
			"  a = relu(x)\n  b = broadcast_to(a, shape=[13,61,60])\n  y = relu(b)\n"},
		{"shuffled channels", "", "x rows f32[58,28,28]", "  a = relu(x)\n  c = concat(x, a)\n" +
			"  d = reshape(c, shape=[2,58,28,28])\n  e = transpose(d, perm=[1,0,2,3])\n" +
			"  f = reshape(e, shape=[116,28,28])\n  y = slice(f, begin=[58,0,0], end=[116,28,28])\n"},
	} {
		p := program(t, c)
		for _, rows := range []int{1, 3} {
			single := evaluate(t, openSet(t, "auto", 1), p, []int{rows}, 0, 1)[0]
			want := evaluate(t, ref.New("ref"), p, []int{rows}, 0, 1)[0]
			if d := difference(single, want); !(d < 1e-3) {
				t.Errorf("%s, %d rows: differs from ref by %.2g", c.name, rows, d)
			}
			for _, threads := range []int{2, 3, 5, 7} {
				if got := evaluate(t, openSet(t, "auto", threads), p, []int{rows}, 0, 1)[0]; !tensor.Equal(got, single) {
					t.Errorf("%s, %d rows, %d threads: other bits than one thread", c.name, rows, threads)
				}
			}
		}
	}
}
