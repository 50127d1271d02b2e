package evaluation

import "math"

// Overlap returns the intersection over union of a class: the number of pixels that have the class both as
// label and as prediction, divided by the number of pixels that have it as label or as prediction. It is NaN
// if no pixel has the class. Ignored pixels are left out.
func (e *Evaluation) Overlap(class int) Figure {
	k := &e.PerClass[class]
	either := k.N + k.Predicted - k.Correct
	if either == 0 {
		return Figure(math.NaN())
	}
	return Figure(float64(k.Correct) / float64(either))
}

// MeanOverlap returns the mean intersection over union (mIoU) over the classes with a defined Overlap,
// including the background. It is NaN without these classes.
func (e *Evaluation) MeanOverlap() Figure {
	sum, classes := 0.0, 0.0
	for class := range e.PerClass {
		if v := float64(e.Overlap(class)); v == v {
			sum += v
			classes++
		}
	}
	return Figure(sum / classes)
}
