package train

import (
	"fmt"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/plugins/cpu"
)

// gatedBlocks is a network of blocks. Their values are read by a gate and its product, by
// two additions in either order, and by activations with gradients that read the input.
func gatedBlocks(blocks int) string {
	state, nodes, x := "", "  image = image(x, mean=[0.5,0.5,0.5], std=[0.2,0.2,0.2])\n", "image"
	norm := func(n string, in int) string {
		state += fmt.Sprintf("state %s.w f32[3,%d,3,3] weight he_normal(0)\nstate %[1]s.g f32[3] gamma ones\n"+
			"state %[1]s.b f32[3] beta zeros\nstate %[1]s.m f32[3] mean zeros\nstate %[1]s.v f32[3] variance ones\n",
			n, in)
		return fmt.Sprintf("conv(%s, @%s.w, pad=[1,1,1,1])\n  %[2]s = batch_norm(%[2]s.c, @%[2]s.g, @%[2]s.b, "+
			"@%[2]s.m, @%[2]s.v)\n", x, n)
	}
	for i := range blocks {
		a, b := fmt.Sprintf("a%d", i), fmt.Sprintf("b%d", i)
		nodes += "  " + a + ".c = " + norm(a, 3) + "  " + b + ".c = " + norm(b, 3)
		nodes += fmt.Sprintf("  s%d = add(%s, %s)\n  e%[1]d = sigmoid(s%[1]d)\n  y%[1]d = mul(s%[1]d, e%[1]d)\n"+
			"  z%[1]d = add(y%[1]d, %[4]s)\n  r%[1]d = %[5]s(z%[1]d)\n", i, b, a, x, []string{"relu6", "silu"}[i%2])
		x = fmt.Sprintf("r%d", i)
	}
	return "bnctl graph 1\ngraph \"gated blocks\"\n\n" + state + "state head.w f32[10,3] weight uniform(0.5)\n" +
		"state head.b f32[10] bias zeros\n\nfunc main(x rows u8[8,8,3]) {\n" + nodes + "  pool = global_avg_pool(" + x +
		")\n  flat = reshape(pool, shape=[3])\n  head = dense(flat, @head.w, @head.b)\n  return logits rows = head\n}\n"
}

// Recomputation changes no bit if a device rounds stored values but not fused ones, and if it folds
// frozen norms: a value is fused with recomputation exactly if it is fused without.
func TestRecomputeLeavesWhatIsFused(t *testing.T) {
	blocks := gatedBlocks(6)
	for _, c := range []struct {
		golden
		provider device.Provider
	}{
		{golden{model: "mobilenetv2", side: 32, mode: bn.Sync, precision: device.BF16}, cpu.Provider{}},
		{golden{model: "mobilenetv3-small", side: 32, mode: bn.Sync, precision: device.BF16}, cpu.Provider{}},
		{golden{model: "resnet20", side: 8, mode: bn.Replica, precision: device.BF16}, cpu.Provider{}},
		{golden{model: "resnet20", side: 8, mode: bn.Frozen, precision: device.BF16}, cpu.Provider{}},
		{golden{model: "resnet20", side: 8, mode: bn.Frozen}, cpu.Provider{}},
		{golden{model: "blocks", graph: blocks, side: 8, mode: bn.Sync, precision: device.BF16}, cpu.Provider{}},
		{golden{model: "blocks", graph: blocks, side: 8, mode: bn.Replica, precision: device.BF16}, cpu.Provider{}},
		{golden{model: "blocks", graph: blocks, side: 8, mode: bn.Frozen}, cpu.Provider{}},
		{golden{model: "blocks", graph: blocks, side: 8, mode: bn.Sync, precision: device.BF16}, ref.Provider{}},
	} {
		g := &c.golden
		g.classes, g.seed, g.lr, g.replicas = 10, 7, 0.1, 3
		t.Run(fmt.Sprint(g.model, " ", g.mode, " ", g.precision), func(t *testing.T) {
			g.recomputed(t, c.provider)
		})
	}
}
