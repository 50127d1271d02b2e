package convolution

import (
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
)

// The work on a chunk is cut into tasks by channels, never by positions: every sum has
// one owner, which adds its tiles in order.
//
//	           output channels: panels of 64
//	input    +--------+--------+--------+
//	channels | task 0 | task 3 | task 6 |    16 or 32 input channels each
//	         +--------+--------+--------+
//	         | task 1 | task 4 | task 7 |
//	         +--------+--------+--------+

// tapsTask is one of the tasks of a chunk. It computes the gradient of input channels [k0, k1) and a panel
// of width output channels.
type tapsTask struct {
	k *winogradGradient
	f *run.Frame
	w *run.Worker
	chunk
	workspace                    *gradientWorkspace
	number, panel, k0, k1, width int
}

// add adds the products of the given number of rows of tiles to the sums. If last is set, it then computes
// the gradient from the sums.
func (t *tapsTask) add(rows int, first, last bool) {
	all, n, kernels := t.k.maxRows*t.k.columns, (t.k1-t.k0)*t.width, t.f.Kernels
	step := t.k.SumsStep(n)
	size := t.k.Frequencies() * step
	buffer := t.w.Floats(size + (t.k.Taps()+1)*n)
	taps, chain := t.result(buffer[:t.k.Taps()*n]), buffer[t.k.Taps()*n:][:n]
	sums := buffer[(t.k.Taps()+1)*n:][:size]
	if !first || !last {
		at := t.k.Frequencies() * (t.offset() + kernel.Lanes*t.number)
		sums = run.Temp[float32](t.f, t.workspace.sums, at+size)[at:]
	}
	if first {
		clear(sums)
	}
	v := run.Temp[float32](t.f, t.workspace.v, t.k.InLen(all))
	d := run.Temp[float32](t.f, t.workspace.d, t.k.GradientLen(all))
	products := func(q int, sums []float32, from, to int) {
		in, gradient := t.k.Frequency(q, all)
		kernels.Gradient(t.k.window, 0, t.panel, sums, v[in:], d[gradient:], t.k0, t.k1, from*t.k.columns,
			to*t.k.columns, &t.w.Tile)
	}
	for q := range t.k.Frequencies() {
		of := sums[q*step:][:n]
		if t.k.chain == 0 {
			products(q, of, 0, rows)
			continue
		}
		for from := 0; from < rows; from += t.k.chain {
			clear(chain)
			products(q, chain, from, min(from+t.k.chain, rows))
			kernels.Add(of, of, chain)
		}
	}
	if last {
		kernels.WinogradTaps(t.k.Winograd, taps, sums, n)
		t.mend(taps)
		t.finish(taps)
	}
}

// withoutTiles computes the gradient by windows alone.
func (t *tapsTask) withoutTiles() {
	taps := t.result(t.w.Floats(t.k.Taps() * (t.k1 - t.k0) * t.width))
	t.direct(taps, t.k0, t.k1)
	t.finish(taps)
}

// result returns the memory in which the gradient of the chunk is computed: a leaf, or workspace if the
// replica has only one chunk.
func (t *tapsTask) result(workspace []float32) []float32 {
	if t.count == 1 {
		return workspace
	}
	return t.leafOf(0, len(workspace))
}

// leafOf returns n values of the gradient of a later chunk. distance is its distance from this chunk.
func (t *tapsTask) leafOf(distance, n int) []float32 {
	at := (t.leaf+distance)*t.k.dw.Count + t.k.Taps()*t.offset()
	return run.Temp[float32](t.f, t.k.leaves, at+n)[at:]
}

// offset returns the offset of the task's values in an array with the values of all panels and input
// channels.
func (t *tapsTask) offset() int { return t.k.g.c*t.panel*kernel.PanelLanes + t.k0*t.width }

// finish writes the gradient of a replica that consists of one chunk.
func (t *tapsTask) finish(taps []float32) {
	if t.count == 1 {
		t.unpack(taps)
	}
}

// join adds the gradients of the chunks of the replica along the canonical tree, and writes
// the sum. The chunk of t is the first of them.
func (t *tapsTask) join() {
	t.unpack(t.sum(collective.Root(t.count), t.k.Taps()*(t.k1-t.k0)*t.width))
}

// sum adds the leaves of a node of the tree, n values each, and returns the sum, which overwrites the first
// leaf.
func (t *tapsTask) sum(node collective.Node, n int) []float32 {
	all := t.leafOf(node.From, n)
	if !node.Leaf() {
		left, right := node.Children()
		t.f.Kernels.Add(all, t.sum(left, n), t.sum(right, n))
	}
	return all
}

// unpack writes taps, [tap][k1-k0][width], to a gradient [O][C][tap], or adds them to sums
// of gradients.
func (t *tapsTask) unpack(taps []float32) {
	order, step := t.k.orders[t.k1-t.k0], t.k.g.c*t.k.Taps()
	at := (t.panel*kernel.PanelLanes*t.k.g.c + t.k0) * t.k.Taps()
	if !t.k.adds {
		t.f.Kernels.Scatter(run.Row(t.f.F32(t.k.dw), t.k.dw, t.r)[at:], order, step, taps, t.width, t.width)
		return
	}
	n := (t.k1 - t.k0) * t.k.Taps()
	unpacked := t.w.Unpacked(n * t.width)
	t.f.Kernels.Scatter(unpacked, order, n, taps, t.width, t.width)
	for c := range t.width {
		t.f.Add(t.k.dw, at+c*step, unpacked[c*n:][:n])
	}
}

// mend computes by windows the gradients that tiles have computed with too little precision.
func (t *tapsTask) mend(taps []float32) {
	for k := t.k0; k < t.k1; {
		to := k
		for to < t.k1 && (t.workspace.failed || t.workspace.uneven[to]) {
			to++
		}
		if to > k {
			t.direct(taps, k, to)
		}
		k = to + 1
	}
}

// direct sets the taps of input channels [k, to) to the gradient of the chunk computed by
// windows.
func (t *tapsTask) direct(taps []float32, k, to int) {
	x, dy, n := t.f.F32(t.k.x), t.f.Slack(t.k.dy), (t.k1-t.k0)*t.width
	sums := func(tap int) []float32 { return taps[tap*n+(k-t.k0)*t.width:][:(to-k)*t.width] }
	for tap := range t.k.Taps() {
		clear(sums(tap))
	}
	for i := t.from; i < t.to; i++ {
		gradient := dy[i*t.k.dy.Count : (i+1)*t.k.dy.Count+kernel.GradientSlack]
		for p := 0; p < t.k.plain.Positions(); p += t.f.Schedule.Gradient {
			for tap := range t.k.Taps() {
				t.f.Kernels.Gradient(t.k.plain, tap, t.panel, sums(tap), run.Row(x, t.k.x, i), gradient, k, to,
					p, min(p+t.f.Schedule.Gradient, t.k.plain.Positions()), &t.w.Tile)
			}
		}
	}
}
