// Package detect turns the outputs of a detector into boxes in the coordinates of the original picture. Use
// New with a model, and Detector.Boxes with its output for a picture.
package detect

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/models/fit"
	"github.com/bnctl/bnctl/objects"
	"github.com/bnctl/bnctl/objects/anchors"
	"github.com/bnctl/bnctl/objects/cells"
	"github.com/bnctl/bnctl/predict/answer"
	"github.com/bnctl/bnctl/tensor"
)

// Box is a detected object. Corners are x1, y1, x2, y2 in pixels of the picture, within the picture.
type Box struct {
	Label   string     `json:"label"`
	Index   int        `json:"index"` // index of the class
	Score   float32    `json:"score"` // probability of an object times the probability of its class
	Corners [4]float64 `json:"box"`
}

// Detector converts the output of a model to boxes.
type Detector struct {
	model   *models.Model
	layout  models.Layout // layout of another program; "" for detectors of the zoo
	first   int           // index of the first output in the form of layout
	grid    *cells.Grid   // grid of a layout with cells
	slots   cells.Slots   // slots of a detector of the zoo
	frames  data.Transform
	options cells.Options
}

// Default are the options for boxes that are shown to people. Evaluations use ForEvaluation.
var (
	Default       = cells.Options{Score: 0.3, Overlap: 0.45, Most: 300}
	ForEvaluation = cells.Options{Score: 0.01, Overlap: 0.65, Most: 100}
)

// Detects reports whether a model is a detector: of the zoo, or of another program with a known layout.
func Detects(m *models.Model) bool {
	_, native := m.DetectedClasses()
	return native || m.BoxLayout() != models.NoLayout
}

// New returns a detector for a model that Detects accepts.
func New(m *models.Model, o cells.Options) (*Detector, error) {
	d := &Detector{model: m, layout: m.BoxLayout(), first: m.BoxOutput(), options: o,
		frames: fit.Transform(m, data.Info{DType: tensor.U8})}
	_, native := m.DetectedClasses()
	if !native && d.layout == models.NoLayout {
		return nil, fmt.Errorf("model %s predicts no boxes", m.Architecture)
	}
	var err error
	switch {
	case native:
		d.slots, err = anchors.New(m.BoxForm(), d.frames.Height, d.frames.Width)
	case d.layout == models.YOLOX:
		d.grid, err = cells.New(d.frames.Height, d.frames.Width)
	}
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", m.Architecture, err)
	}
	if !native {
		return d, nil
	}
	if n := m.Computed(0).Type.Shape[1]; n != d.slots.Len() {
		return nil, fmt.Errorf("model %s has %d slots for an input of %d x %d, want %d", m.Architecture, n,
			d.frames.Width, d.frames.Height, d.slots.Len())
	}
	return d, nil
}

func isFinite(values []float32) bool {
	return !slices.ContainsFunc(values, func(v float32) bool { return !tensor.IsFinite(v) })
}

// Layout returns the form of the outputs of another program's detector; "" for detectors of the zoo.
func (d *Detector) Layout() models.Layout { return d.layout }

// InputSize returns the height and width of the model's input. If Boxes is called with this size as the size
// of the picture, it returns boxes in pixels of the input.
func (d *Detector) InputSize() (height, width int) { return d.frames.Height, d.frames.Width }

// detections returns the boxes in the outputs, in pixels of the input.
func (d *Detector) detections(outs []tensor.Tensor) ([]cells.Detection, error) {
	if d.slots != nil && len(outs[0].Shape) == 1 {
		return d.found(outs[0])
	}
	for k, t := range outs {
		if t.DType == tensor.F32 && !isFinite(t.F32()) {
			return nil, d.notFinite(k)
		}
	}
	if d.layout == models.NoLayout {
		return d.slots.Detections(outs[0].F32(), d.options), nil
	}
	if err := d.checkCorners(outs); err != nil {
		return nil, err
	}
	return d.read(outs)
}

// notFinite returns the error for an output with numbers that are not finite.
func (d *Detector) notFinite(output int) error {
	return &answer.NotFinite{Output: d.model.Outputs()[output].Name}
}

// Boxes returns the boxes in the outputs for a picture of a size, the highest score first. The outputs are
// the model's, or the ones of a program of OnDevice with the same limits. Boxes are cut at the border of the
// picture, and a box outside of it is left out. The error is an *answer.NotFinite, or a *problem.Error if the
// numbers of an output are not boxes of its layout.
func (d *Detector) Boxes(outs []tensor.Tensor, height, width int) ([]Box, error) {
	found, err := d.detections(outs)
	if err != nil {
		return nil, err
	}
	all, frame := []Box{}, d.frames.Frame(height, width)
	for _, f := range found {
		c := frame.Undo(f.Corners)
		b := objects.Box{X1: c[0], Y1: c[1], X2: c[2], Y2: c[3]}.Clip(width, height)
		if b.Area() > 0 {
			all = append(all, Box{answer.Label(d.model, f.Class), f.Class, f.Score,
				[4]float64{b.X1, b.Y1, b.X2, b.Y2}})
		}
	}
	return all, nil
}
