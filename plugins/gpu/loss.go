package gpu

import (
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// lossOps are losses and metrics.
var lossOps = map[graph.Op]func(c *compiler){
	graph.SoftmaxXent:     buildXent,
	graph.SoftmaxXentGrad: buildXentGrad,
	graph.Correct:         buildCorrect,
}

// labels checks labels after a run. Kernels mark in bad each row, or each position, that has a label
// that is not a class.
type labels struct {
	labels  *value
	bad     *slot
	perRow  int // number of elements of bad for each row
	classes int
	ignore  int
	name    string
}

// marks returns memory for the marks of a run.
func (l *labels) marks(f *frame) tensor.Tensor {
	return tensor.New(tensor.I32, f.units(graph.Rows)*l.perRow)
}

// check returns an error if there is a mark.
func (l *labels) check(f *frame, marks tensor.Tensor) error {
	for i, w := range marks.I32() {
		if w != 0 {
			return l.fail(f, i/l.perRow)
		}
	}
	return nil
}

// fail returns an error that names the first invalid label of a row. Valid labels are classes and the
// label that is ignored.
func (l *labels) fail(f *frame, row int) error {
	all := tensor.New(tensor.I32, f.units(graph.Rows)*l.labels.count)
	if err := f.exe.backend.read(all.Bytes, l.labels.buffer(), 0); err != nil {
		return err
	}
	for _, label := range all.I32()[row*l.labels.count : (row+1)*l.labels.count] {
		if (label < 0 || int(label) >= l.classes) && int(label) != l.ignore {
			return device.Errorf("", l.name, device.Invalid, "label %d of row %d is not one of 0 to %d", label, row,
				l.classes-1)
		}
	}
	return nil
}

// watch adds a check of the labels. It returns the slot in which kernels mark them.
func (c *compiler) watch(perRow int) *slot {
	l := &labels{labels: c.in(1), bad: c.exe.slots.reserve(graph.Rows, 4*perRow), perRow: perRow,
		classes: c.in(0).channels(), ignore: c.node.Int("ignore"), name: c.fn.NodeName(c.node)}
	c.checks = append(c.checks, l)
	return l.bad
}

// weighted returns operand i and 1 if it is present, in the form that a kernel expects. If it is absent,
// the second result is 0.
func (c *compiler) weighted(i int) (any, int) {
	if w := c.in(i); w != nil {
		return w, 1
	}
	return c.in(0), 0 // the kernel does not read it
}

// classWeights returns a weight for each class: 1 if the loss has no class weights.
func (c *compiler) classWeights() *constant {
	weights := c.node.Floats("weights")
	if len(weights) == 0 {
		weights = slices.Repeat([]float64{1}, c.in(0).channels())
	}
	return c.doubles(weights)
}

// weightsTargets returns 1 if class weights apply to targets instead of labels.
func (c *compiler) weightsTargets() int {
	if c.node.Bool("weighted_targets") {
		return 1
	}
	return 0
}

func buildXent(c *compiler) {
	x, y := c.in(0), c.out(0)
	weight, weighted := c.weighted(2)
	rows := c.temp(graph.Rows, 8)
	c.launch("xent", graph.Rows, 1, x, c.in(1), weight, c.classWeights(), rows, c.watch(1), 1, x.channels(),
		x.positions(), c.node.Int("ignore"), c.node.Float("smoothing"), weighted, c.weightsTargets())
	c.launch("sum_rows64", graph.Replica, 1, rows, y, c.exe.starts, 1)
}

func buildCorrect(c *compiler) {
	x, y := c.in(0), c.out(0)
	rows := c.temp(graph.Rows, 16)
	c.launch("correct", graph.Rows, 1, x, c.in(1), rows, c.watch(1), 1, x.channels(), x.positions(),
		c.node.Int("ignore"))
	c.launch("sum_rows64", graph.Replica, 2, rows, y, c.exe.starts, 2)
}

func buildXentGrad(c *compiler) {
	x, dx := c.in(0), c.out(0)
	weight, weighted := c.weighted(3)
	bad := c.watch(x.positions())
	logs := c.logs(x, x.positions(), x.channels(), x.positions())
	c.launch("xent_back", graph.Rows, dx.count, x, logs, c.in(1), c.in(2), weight, c.classWeights(), dx, bad,
		dx.count, x.channels(), x.positions(), c.node.Int("ignore"), c.node.Float("smoothing"), weighted,
		c.weightsTargets())
}
