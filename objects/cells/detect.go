package cells

import (
	"github.com/bnctl/bnctl/device/detection"
	"github.com/bnctl/bnctl/device/suppress"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Detection is a predicted box, in pixels of the input. Score is the probability of an object times the
// probability of its class.
type Detection = detection.Box

// Options limit the detections that are returned.
type Options struct {
	Score   float32 // all detections have a greater score
	Overlap float32 // of two boxes of a class that overlap more, only the better one is returned
	Most    int     // maximum number of detections: the best are returned; 0: all
}

// Limits returns Score and Overlap of o, without Most.
func (o Options) Limits() detection.Limits {
	return detection.Limits{Score: o.Score, Overlap: o.Overlap}
}

// before is the maximum number of candidates of a class that are kept before overlapping boxes are removed:
// the best ones.
const before = 1000

// Detector returns the detector with the cells of g. As in YOLOX, a cell predicts only the class with the
// highest logit, or the first of several equal ones.
func (g *Grid) Detector(limit int) *detection.Detector {
	return &detection.Detector{Form: graph.YOLOXForm, Height: g.Height, Width: g.Width, Anchors: g.corners,
		Before: before, Most: limit}
}

// Detections returns the boxes in one prediction [5+C, A] for the cells of g, the highest score first.
func (g *Grid) Detections(rows []float32, o Options) []Detection {
	return g.Detector(o.Most).Detect(detection.Ordered(rows, g.Len()), o.Limits())
}

// Corners returns the corners in pixels of the box that cell i predicts. v has the first four rows of the
// prediction.
func (g *Grid) Corners(i int, v [4]float32) suppress.Corners {
	return g.cells[i].box(v[0], v[1], v[2], v[3])
}

// box returns the corners of a prediction in pixels.
func (p cell) box(x, y, w, h float32) suppress.Corners {
	s := float64(p.stride)
	cx, cy := float64((float64(x)+float64(p.x))*s), float64((float64(y)+float64(p.y))*s)
	halfW, halfH := float64(tensor.Exp(float64(w))*s/2), float64(tensor.Exp(float64(h))*s/2)
	return suppress.Corners{float32(cx - halfW), float32(cy - halfH), float32(cx + halfW),
		float32(cy + halfH)}.Limited()
}

// probability returns the sigmoid of a logit. It is NaN if the logit is NaN.
func probability(logit float32) float64 { return 1 / (1 + tensor.Exp(-float64(logit))) }
