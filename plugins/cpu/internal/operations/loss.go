package operations

import (
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/layout"
	"github.com/bnctl/bnctl/plugins/cpu/internal/plan"
	"github.com/bnctl/bnctl/plugins/cpu/internal/run"
	"github.com/bnctl/bnctl/tensor"
)

// lossOps are softmax, losses and metrics.
var lossOps = map[graph.Op]func(c *plan.Compiler) run.Action{
	graph.Softmax:         buildSoftmax,
	graph.LogSoftmax:      buildSoftmax,
	graph.SoftmaxGrad:     buildSoftmaxGrad,
	graph.LogSoftmaxGrad:  buildSoftmaxGrad,
	graph.SoftmaxXent:     buildSoftmaxXent,
	graph.SoftmaxXentGrad: buildSoftmaxXentGrad,
	graph.Correct:         buildCorrect,
}

// labelled describes the operands of losses and metrics: logits [positions][classes] and a
// label for each position.
type labelled struct {
	logits, labels, weight *run.Value
	ignore                 int
	smoothing              float64
	weighted               bool      // class weights multiply the targets, not whole labels
	classes                []float64 // weights of the classes; nil: all are 1
	name                   string
}

func labelledOf(c *plan.Compiler, weight *run.Value) *labelled {
	l := &labelled{logits: c.In(0), labels: c.In(1), weight: weight, ignore: c.Node().Int("ignore"),
		name: c.NodeName()}
	if c.Node().Op != graph.Correct {
		l.smoothing, l.classes = c.Node().Float("smoothing"), c.Node().Floats("weights")
		l.weighted = c.Node().Bool("weighted_targets")
	}
	return l
}

// eachLabel calls do for the positions of a row that are not ignored, with the label and the logits. If a
// label is not a class, eachLabel records an error for the row.
func (l *labelled) eachLabel(f *run.Frame, w *run.Worker, r int, do func(p, label int, x []float32)) {
	x, classes := f.At(l.logits, w, r), l.logits.Channels
	for p, label := range layout.View[int32](f.Unit(l.labels, w, graph.Rows, r)) {
		switch {
		case int(label) == l.ignore:
		case label < 0 || int(label) >= classes:
			f.FailRow(r, device.Errorf("", l.name, device.Invalid, "label %d of row %d is not one of 0 to %d",
				label, r, classes-1))
			return
		default:
			do(p, int(label), x[p*classes:][:classes])
		}
	}
}

// targets returns the probabilities that label smoothing assigns to the label and to
// every other class.
func (l *labelled) targets() (target, other float64) {
	other = l.smoothing / float64(l.logits.Channels)
	return other + (1 - l.smoothing), other
}

// weightsTargets reports whether class weights multiply the targets instead of weighting whole labels.
func (l *labelled) weightsTargets() bool { return l.weighted }

// target returns the target of class k, times its weight if targets are weighted.
func (l *labelled) target(k, label int, target, other float64) float64 {
	t := other
	if k == label {
		t = target
	}
	if l.weightsTargets() {
		t *= l.classes[k]
	}
	return t
}

// sum returns the sum of the targets of all classes. It is 1 unless class weights apply to targets.
func (l *labelled) sum(label int, target, other float64) float64 {
	if !l.weightsTargets() {
		return 1
	}
	sum := 0.0
	for k := range l.classes {
		sum += float64(l.target(k, label, target, other))
	}
	return sum
}

// weightOf returns the weight of a label of a row: the weight of the row times the weight
// of the class.
func (l *labelled) weightOf(f *run.Frame, w *run.Worker, r, label int) float64 {
	weight := 1.0
	if l.weight != nil {
		weight = float64(f.At(l.weight, w, r)[0])
	}
	if len(l.classes) > 0 && !l.weightsTargets() {
		weight *= l.classes[label]
	}
	return weight
}

// perReplica returns an action that computes n sums of float64 for each replica, over its rows in order. do
// adds the values of one row.
func perReplica(c *plan.Compiler, n int, do func(f *run.Frame, w *run.Worker, r int,
	sum []float64)) run.Action {
	y, rows := c.Out(0), c.Temp(0, 0, 8*n)
	return &run.ByRows{
		Row: func(f *run.Frame, w *run.Worker, r, _, _ int) {
			sum := run.Temp[float64](f, rows, n*f.Total())[r*n : (r+1)*n]
			clear(sum)
			do(f, w, r, sum)
		},
		Finish: func(f *run.Frame) {
			sums, all := f.F64(y), run.Temp[float64](f, rows, n*f.Total())
			clear(sums)
			for r := range f.Rows {
				for i := f.Starts[r]; i < f.Starts[r+1]; i++ {
					addTo(sums[r*n:(r+1)*n], all[i*n:(i+1)*n])
				}
			}
		},
	}
}

func buildSoftmaxXent(c *plan.Compiler) run.Action {
	l := labelledOf(c, c.In(2))
	return perReplica(c, 1, func(f *run.Frame, w *run.Worker, r int, sum []float64) {
		l.eachSum(f, w, r, false, func(n logits) {
			sum[0] += float64(l.weightOf(f, w, r, n.label) * l.loss(n))
		})
	})
}

// logits are the logits of one position, the largest of them, the logarithm of sum(exp(x -
// largest)), and, if requested, the exponentials of x - largest - log.
type logits struct {
	p, label     int
	x            []float32
	largest, log float64
	exp          []float64
}

// someLogits is the number of exponentials that are computed together.
const someLogits = 2048

// eachSum does the same as each, and also passes the logarithm of the sum of the
// softmax at each position.
func (l *labelled) eachSum(f *run.Frame, w *run.Worker, r int, exp bool, do func(n logits)) {
	classes := l.logits.Channels
	most := max(1, someLogits/classes)
	all, buffer := make([]logits, 0, most), w.Doubles(2*most*classes)
	x, y := buffer[:most*classes], buffer[most*classes:]
	flush := func() {
		n := len(all) * classes
		f.Kernels.ExpDoubles(y[:n], x[:n], tensor.Exp)
		for i := range all {
			sum := 0.0
			for _, v := range y[i*classes:][:classes] {
				sum += v
			}
			all[i].log = tensor.Log(sum)
		}
		if exp {
			for i, n := range all {
				for k, v := range n.x {
					x[i*classes+k] = float64(v) - n.largest - n.log
				}
			}
			f.Kernels.ExpDoubles(y[:n], x[:n], tensor.Exp)
		}
		for i, n := range all {
			n.exp = y[i*classes:][:classes]
			do(n)
		}
		all = all[:0]
	}
	l.eachLabel(f, w, r, func(p, label int, values []float32) {
		n := logits{p: p, label: label, x: values, largest: float64(slices.Max(values))}
		for k, v := range values {
			x[len(all)*classes+k] = float64(v) - n.largest
		}
		if all = append(all, n); len(all) == most {
			flush()
		}
	})
	flush()
}

// loss returns the cross-entropy of one line of logits.
func (l *labelled) loss(n logits) float64 {
	target, other := l.targets()
	if other == 0 {
		return 0 - float64(target*(float64(n.x[n.label])-n.largest-n.log))
	}
	loss := 0.0
	for k, v := range n.x {
		if t := l.target(k, n.label, target, other); t != 0 {
			loss -= float64(t * (float64(v) - n.largest - n.log))
		}
	}
	return loss
}

func buildSoftmaxXentGrad(c *plan.Compiler) run.Action {
	l, inverse, dx := labelledOf(c, c.In(3)), c.In(2), c.Out(0)
	target, other := l.targets()
	return &run.ByRows{Row: func(f *run.Frame, w *run.Worker, r, _, _ int) {
		grad, scale := f.At(dx, w, r), float64(f.F32(inverse)[0])
		clear(grad)
		l.eachSum(f, w, r, true, func(n logits) {
			weight, to := l.weightOf(f, w, r, n.label), grad[n.p*len(n.x):][:len(n.x)]
			sum := l.sum(n.label, target, other)
			for k, e := range n.exp {
				to[k] = float32((float64(e*sum) - l.target(k, n.label, target, other)) * weight * scale)
			}
		})
	}}
}

// buildCorrect counts the correct predictions: labels with the largest logit, or the first of several equal
// ones. It also counts all labels that are not ignored.
func buildCorrect(c *plan.Compiler) run.Action {
	l := labelledOf(c, nil)
	return perReplica(c, 2, func(f *run.Frame, w *run.Worker, r int, sum []float64) {
		l.eachLabel(f, w, r, func(_, label int, x []float32) {
			if largest(x) == label {
				sum[0]++
			}
			sum[1]++
		})
	})
}

// largest returns the index of the first element that is the maximum.
func largest(x []float32) int {
	best := 0
	for k, v := range x {
		if v > x[best] {
			best = k
		}
	}
	return best
}
