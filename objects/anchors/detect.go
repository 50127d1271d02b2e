package anchors

import (
	"github.com/bnctl/bnctl/device/detection"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/objects/cells"
)

// These are the numbers of best candidates that are kept before overlapping boxes are removed: for each
// feature map, and for SSD for each class.
const (
	candidatesOfMap   = 1000
	candidatesOfClass = 300
)

// Detector returns the detector with the slots of g, as in torchvision. A slot may predict several classes.
// Before overlapping boxes are removed, only the best candidates of each feature map are kept, or for SSD the
// best of each class. Boxes are cut at the border of the input. The score of FCOS is the square root of the
// product of two probabilities, of the centre and of the class.
func (g *Grid) Detector(limit int) *detection.Detector {
	d := &detection.Detector{Form: g.form, Height: g.Height, Width: g.Width, Anchors: g.corners,
		Starts: g.starts, Before: candidatesOfMap, Most: limit}
	if g.form == graph.SSDForm {
		d.Before, d.Starts = candidatesOfClass, nil
	}
	return d
}

// Detections returns the boxes in one prediction [R, A] for the slots of g, the highest score first.
func (g *Grid) Detections(rows []float32, o cells.Options) []cells.Detection {
	return g.Detector(o.Most).Detect(detection.Ordered(rows, g.Len()), o.Limits())
}
