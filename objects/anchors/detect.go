package anchors

import (
	"github.com/bnctl/bnctl/device/detection"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/objects/cells"
)

// These are the maximum numbers of candidates that compete, the best ones: of a map, and of a class of SSD.
const (
	candidatesOfMap   = 1000
	candidatesOfClass = 300
)

// Detector returns the detector with the slots of g, as torchvision has it: a slot may have several classes,
// the best candidates of each map compete, or of SSD those of each class, and boxes end at the border of the
// input. The score of FCOS is the root of the probabilities of centre and class.
func (g *Grid) Detector(most int) *detection.Detector {
	d := &detection.Detector{Form: g.form, Height: g.Height, Width: g.Width, Anchors: g.corners,
		Starts: g.starts, Before: candidatesOfMap, Most: most}
	if g.form == graph.SSDForm {
		d.Before, d.Starts = candidatesOfClass, nil
	}
	return d
}

// Detections returns the boxes of one prediction [R, A] for slots of g, the highest score first.
func (g *Grid) Detections(rows []float32, o cells.Options) []cells.Detection {
	return g.Detector(o.Most).Detect(detection.Ordered(rows, g.Len()), o.Limits())
}
