package data

import (
	"fmt"

	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/problem"
)

// Fit is a way to make inputs of a model from a picture of any size.
type Fit string

// The fits. All except CropFit show the whole picture.
const (
	CropFit    Fit = "crop"    // the middle, after scaling by Transform, like evaluation in training
	ScaleFit   Fit = "scale"   // scaled by Transform, then covered by windows of the input's size
	ResizeFit  Fit = "resize"  // scaled to the input's size, which may change the aspect ratio
	PadFit     Fit = "pad"     // scaled down if too large, else surrounded by black (grey in a letterbox)
	WindowsFit Fit = "windows" // not scaled, covered by windows of the input's size
)

// fits lists the fits.
func fits() []Fit { return []Fit{CropFit, ScaleFit, ResizeFit, PadFit, WindowsFit} }

// ParseFit returns the fit with this name. The error is a *problem.Error about the option fit.
func ParseFit(name string) (Fit, error) {
	var names []string
	for _, f := range fits() {
		if string(f) == name {
			return f, nil
		}
		names = append(names, string(f))
	}
	return "", &problem.Error{Field: "fit", Value: fmt.Sprintf("%q", name), Known: names,
		Text: "want crop, scale, resize, pad or windows"}
}

// views returns the parts of a picture of h x w pixels that the inputs show: one view, or windows in rows
// from the top left. Neighbouring windows overlap at least by the share overlap of their side, from 0 to less
// than 1.
func (t Transform) views(f Fit, overlap float64, h, w int) (list []images.View) {
	v := images.View{W: t.Width, H: t.Height} // this is right for ResizeFit
	switch f {
	case ScaleFit:
		v.W, v.H = t.scaling().Size(images.Plane{H: t.Height, W: t.Width}, images.Plane{H: h, W: w})
	case WindowsFit:
		v.W, v.H = w, h
	case PadFit:
		v.W, v.H = t.within(h, w)
	}
	for _, y := range starts(v.H, t.Height, overlap) {
		for _, x := range starts(v.W, t.Width, overlap) {
			list = append(list, images.View{W: v.W, H: v.H, X: x, Y: y})
		}
	}
	return list
}

// within returns the size of a picture after it is scaled down to fit into the input.
func (t Transform) within(h, w int) (scaledW, scaledH int) {
	switch {
	case w <= t.Width && h <= t.Height:
		return w, h
	case w*t.Height > h*t.Width: // the width decides the scale
		return t.Width, max(1, h*t.Width/w)
	}
	return max(1, w*t.Height/h), t.Height
}

// starts returns the offsets of windows on an axis. side is the length of a window, and length the length of
// the axis. The windows are evenly spaced, except that the last window ends where the axis ends.
func starts(length, side int, overlap float64) []int {
	step, at := max(1, int(float64(side)*(1-overlap))), []int{0}
	for last := length - side; at[len(at)-1] < last; {
		at = append(at, min(at[len(at)-1]+step, last))
	}
	return at
}
