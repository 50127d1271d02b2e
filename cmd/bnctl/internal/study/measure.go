package study

import "strings"

// fraction returns the measure of a score: the mean intersection over union of
// masks, or accuracy.
func (s Score) fraction() float64 {
	if s.MIoU != nil {
		return *s.MIoU
	}
	return s.Accuracy
}

// fraction returns the measure of an epoch, like Score.fraction.
func (e Epoch) fraction() float64 {
	return Score{Accuracy: e.Accuracy, MIoU: e.MIoU}.fraction()
}

// worded replaces accuracy by the name of the measure that the runs are judged by.
func (r *Results) worded(text string) string {
	if !r.Masks {
		return text
	}
	return strings.NewReplacer("accuracy", "mIoU", "Accuracy", "mIoU").Replace(text)
}
