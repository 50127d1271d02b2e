package devicetest

import (
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

func labels(classCount, ignore int, shape ...int) operand {
	return rows(shape...).withType(tensor.I32).filledBy(classes(classCount, ignore))
}

var (
	inverse = whole().filledBy(listed(0.03125))
	weight  = rows().filledBy(positive)
)

var lossProbes = []probe{
	{"10 classes", graph.SoftmaxXent, nil, []operand{rows(10), labels(10, -1)}, losses},
	{"1000 classes, smoothed", graph.SoftmaxXent, []any{"smoothing", 0.1},
		[]operand{rows(1000), labels(1000, -1)}, losses},
	{"weighted", graph.SoftmaxXent, nil, []operand{rows(7), labels(7, -1), weight}, losses},
	{"pixels, ignoring 255", graph.SoftmaxXent, []any{"ignore", 255},
		[]operand{rows(5, 3, 2), labels(5, 255, 3, 2)}, losses},
	{"weighted by class", graph.SoftmaxXent, []any{"weights", []float64{0.5, 3, 0, 1, 0.1}},
		[]operand{rows(5, 3, 2), labels(5, -1, 3, 2)}, losses},
	{"weighted by class, smoothed", graph.SoftmaxXent,
		[]any{"weights", []float64{0.5, 3, 0, 1, 0.1}, "smoothing", 0.1, "weighted_targets", true},
		[]operand{rows(5, 3, 2), labels(5, -1, 3, 2), weight}, losses},
	{"all ignored", graph.SoftmaxXent, nil, []operand{rows(3), labels(1, 0).filledBy(listedInts(-1))}, losses},
	{"far apart", graph.SoftmaxXent, nil, []operand{rows(10).filledBy(spread), labels(10, -1)}, losses},

	{"10 classes", graph.SoftmaxXentGrad, nil, []operand{rows(10), labels(10, -1), inverse}, function},
	{"smoothed", graph.SoftmaxXentGrad, []any{"smoothing", 0.1},
		[]operand{rows(10), labels(10, -1), inverse}, function},
	{"weighted", graph.SoftmaxXentGrad, nil, []operand{rows(7), labels(7, -1), inverse, weight}, function},
	{"weighted by class", graph.SoftmaxXentGrad, []any{"weights", []float64{0.5, 3, 0, 1, 0.1}},
		[]operand{rows(5, 3, 2), labels(5, -1, 3, 2), inverse, weight}, function},
	{"weighted by class, smoothed", graph.SoftmaxXentGrad,
		[]any{"weights", []float64{0.5, 3, 0, 1, 0.1}, "smoothing", 0.1, "weighted_targets", true},
		[]operand{rows(5, 3, 2), labels(5, -1, 3, 2), inverse, weight}, function},
	{"pixels, ignoring 255", graph.SoftmaxXentGrad, []any{"ignore", 255},
		[]operand{rows(5, 3, 2), labels(5, 255, 3, 2), inverse}, function},

	{"10 classes", graph.Correct, nil, []operand{rows(10), labels(10, -1)}, bits},
	{"ties", graph.Correct, nil, []operand{rows(4).filledBy(fewValues), labels(4, -1)}, bits},
	{"pixels, ignoring 255", graph.Correct, []any{"ignore", 255},
		[]operand{rows(3, 4, 2), labels(3, 255, 4, 2)}, bits},
}

func listedInts(values ...int32) filler {
	return func(_ *tensor.Draws, t tensor.Tensor) {
		for i := range t.I32() {
			t.I32()[i] = values[i%len(values)]
		}
	}
}
