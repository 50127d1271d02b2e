package cpu

import (
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// lossOps are softmax, losses and metrics.
var lossOps = map[graph.Op]func(c *compiler) action{
	graph.Softmax:         buildSoftmax,
	graph.LogSoftmax:      buildSoftmax,
	graph.SoftmaxGrad:     buildSoftmaxGrad,
	graph.LogSoftmaxGrad:  buildSoftmaxGrad,
	graph.SoftmaxXent:     buildSoftmaxXent,
	graph.SoftmaxXentGrad: buildSoftmaxXentGrad,
	graph.Correct:         buildCorrect,
}

// labelled is what losses and metrics know of their operands: logits
// [positions][classes] and a label for each position.
type labelled struct {
	logits, labels, weight *value
	ignore                 int
	smoothing              float64
	name                   string
}

func (c *compiler) labelledOf(weight *value) *labelled {
	l := &labelled{logits: c.in(0), labels: c.in(1), weight: weight, ignore: c.node.Int("ignore"),
		name: c.fn.NodeName(c.node)}
	if c.node.Op != graph.Correct {
		l.smoothing = c.node.Float("smoothing")
	}
	return l
}

// each calls do for the positions of a row that count: its label and logits.
// A label that is no class fails the row.
func (l *labelled) each(f *frame, w *worker, r int, do func(p, label int, x []float32)) {
	x, classes := f.at(l.logits, w, r), l.logits.channels
	for p, label := range of[int32](f.unit(l.labels, w, graph.Rows, r)) {
		switch {
		case int(label) == l.ignore:
		case label < 0 || int(label) >= classes:
			f.failRow(r, device.Errorf("", l.name, device.Invalid, "label %d of row %d is not one of 0 to %d",
				label, r, classes-1))
			return
		default:
			do(p, int(label), x[p*classes:][:classes])
		}
	}
}

// target returns the probability that label smoothing asks of a class.
func (l *labelled) target(class, label int) float64 {
	t := l.smoothing / float64(l.logits.channels)
	if class == label {
		t += 1 - l.smoothing
	}
	return t
}

// weightOf returns the weight of a row.
func (l *labelled) weightOf(f *frame, w *worker, r int) float64 {
	if l.weight == nil {
		return 1
	}
	return float64(f.at(l.weight, w, r)[0])
}

// perReplica returns an action that sums n float64 per row, which do adds up,
// over the rows of each replica in order.
func (c *compiler) perReplica(n int, do func(f *frame, w *worker, r int, sum []float64)) action {
	y, rows := c.out(0), c.temp(0, 0, 8*n)
	return action{
		row: func(f *frame, w *worker, r, _, _ int) {
			sum := temp[float64](f, rows, n*f.total())[r*n : (r+1)*n]
			clear(sum)
			do(f, w, r, sum)
		},
		finish: func(f *frame) {
			sums, all := f.f64(y), temp[float64](f, rows, n*f.total())
			clear(sums)
			for r := range f.rows {
				for i := f.starts[r]; i < f.starts[r+1]; i++ {
					addTo(sums[r*n:(r+1)*n], all[i*n:(i+1)*n])
				}
			}
		},
	}
}

func buildSoftmaxXent(c *compiler) action {
	l := c.labelledOf(c.in(2))
	return c.perReplica(1, func(f *frame, w *worker, r int, sum []float64) {
		l.each(f, w, r, func(_, label int, x []float32) {
			sum[0] += float64(l.weightOf(f, w, r) * l.loss(label, x))
		})
	})
}

// loss returns the cross-entropy of one line of logits.
func (l *labelled) loss(label int, x []float32) float64 {
	largest, log := line{len(x), 1}.logSumExp(x)
	loss := 0.0
	for k, v := range x {
		if t := l.target(k, label); t != 0 {
			loss -= float64(t * (float64(v) - largest - log))
		}
	}
	return loss
}

func buildSoftmaxXentGrad(c *compiler) action {
	l, inverse, dx := c.labelledOf(c.in(3)), c.in(2), c.out(0)
	return action{row: func(f *frame, w *worker, r, _, _ int) {
		grad, scale := f.at(dx, w, r), float64(f.f32(inverse)[0])
		clear(grad)
		l.each(f, w, r, func(p, label int, x []float32) {
			largest, log := line{len(x), 1}.logSumExp(x)
			for k, v := range x {
				q := tensor.Exp(float64(v) - largest - log)
				grad[p*len(x)+k] = float32((q - l.target(k, label)) * l.weightOf(f, w, r) * scale)
			}
		})
	}}
}

// buildCorrect counts the labels that are the first maximum, and all that count.
func buildCorrect(c *compiler) action {
	l := c.labelledOf(nil)
	return c.perReplica(2, func(f *frame, w *worker, r int, sum []float64) {
		l.each(f, w, r, func(_, label int, x []float32) {
			if largest(x) == label {
				sum[0]++
			}
			sum[1]++
		})
	})
}

// largest returns the index of the first maximum.
func largest(x []float32) int {
	best := 0
	for k, v := range x {
		if v > x[best] {
			best = k
		}
	}
	return best
}
