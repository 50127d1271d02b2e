package study

import "strings"

// fraction returns the measure that judges a score: the mean intersection over union of masks, the
// average precision of boxes, or accuracy.
func (s Score) fraction() float64 {
	switch {
	case s.MIoU != nil:
		return *s.MIoU
	case s.AP50 != nil:
		return *s.AP50
	}
	return s.Accuracy
}

// fraction returns the measure that judges an epoch, like Score.fraction.
func (e Epoch) fraction() float64 {
	return Score{Accuracy: e.Accuracy, MIoU: e.MIoU, AP50: e.AP50}.fraction()
}

// worded returns text with "accuracy" replaced by the name of the measure that judges the runs.
func (r *Results) worded(text string) string {
	measure := ""
	switch {
	case r.Masks:
		measure = "mIoU"
	case r.Boxes:
		measure = "AP50"
	default:
		return text
	}
	return strings.NewReplacer("accuracy", measure, "Accuracy", measure).Replace(text)
}
