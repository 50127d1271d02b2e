package cells

import "github.com/bnctl/bnctl/device/detection"

// Slots are the slots of a detector's predictions: a Grid, or the anchors of package objects/anchors. All
// results are defined to the bit, and depend on the arguments alone.
type Slots interface {
	// Len returns the number of slots.
	Len() int
	// Fields returns the number of rows of a prediction before the rows of classes.
	Fields() int
	// TargetRows returns the number of rows of Targets.Positive and Targets.Negative.
	TargetRows(classes int) int
	// Fill writes the targets for objects with one of a number of classes, and returns the number of slots
	// that have one. All elements are overwritten.
	Fill(t Targets, objects []Object, classes int) (positives int)
	// Loss returns the sum of the losses of one prediction [R, A] with its targets, in float64.
	Loss(rows []float32, t Targets) float64
	// Detector returns the detector with these slots that returns at most a number of boxes.
	Detector(most int) *detection.Detector
	// Detections returns the boxes of one prediction [R, A], the highest score first.
	Detections(rows []float32, o Options) []Detection
}

// TargetRows returns the number of rows of Targets.Positive: of an object, and of each class.
func (g *Grid) TargetRows(classes int) int { return 1 + classes }

// Fields returns the number of rows of a prediction before the rows of classes.
func (g *Grid) Fields() int { return Fields }
