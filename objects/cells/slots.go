package cells

import "github.com/bnctl/bnctl/device/detection"

// Slots are the places where a detector predicts boxes: the cells of a Grid, or the anchors of package
// objects/anchors. All results are defined to the bit, and depend on the arguments alone.
type Slots interface {
	// Len returns the number of slots.
	Len() int
	// Fields returns the number of rows of a prediction before the rows of classes.
	Fields() int
	// TargetRows returns the number of rows of Targets.Positive and Targets.Negative.
	TargetRows(classes int) int
	// Fill writes the targets for objects, which have one of the given number of classes. It returns the number
	// of slots that get an object. It overwrites all elements.
	Fill(t Targets, objects []Object, classes int) (positives int)
	// Loss returns the sum of the losses of one prediction [R, A] with its targets, in float64.
	Loss(rows []float32, t Targets) float64
	// Detector returns the detector with these slots. The detector returns at most the given number of boxes.
	Detector(most int) *detection.Detector
	// Detections returns the boxes in one prediction [R, A], the highest score first.
	Detections(rows []float32, o Options) []Detection
}

// TargetRows returns the number of rows of Targets.Positive: one for the object, and one for each class.
func (g *Grid) TargetRows(classes int) int { return 1 + classes }

// Fields returns the number of rows of a prediction before the rows of classes.
func (g *Grid) Fields() int { return Fields }
