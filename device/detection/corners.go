package detection

import (
	"github.com/bnctl/bnctl/device/suppress"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Units are the divisors of the first four rows of a prediction of graph.SSDForm: two for the offsets of
// the centre, and two for the logarithms of the sides.
var Units = [4]float64{10, 10, 5, 5}

// Longest is the bound for the logarithm of a side, relative to the anchor, in torchvision's detectors.
// Larger logarithms count as Longest.
var Longest = tensor.Log(1000. / 16)

// corners returns the box of a slot. ok is false if a corner is NaN. The boxes of torchvision's detectors
// are clipped to the input. All corners are limited: see suppress.Corners.Limited.
func (d *Detector) corners(p *Prediction, slot int) (c suppress.Corners, ok bool) {
	var v, all [4]float64
	for j := range v {
		v[j] = float64(p.value(j, slot))
	}
	switch d.Form {
	case graph.CornersForm:
		all = v
	case graph.YOLOXForm:
		all = inCell(d.anchor(slot), v)
	case graph.FCOSForm:
		all = around(d.anchor(slot), v)
	case graph.SSDForm:
		for j, unit := range Units {
			v[j] /= unit
		}
		all = decoded(d.anchor(slot), v)
	default:
		all = decoded(d.anchor(slot), v)
	}
	for j, x := range all {
		if x != x {
			return c, false
		}
		switch {
		case d.Form == graph.CornersForm || d.Form == graph.YOLOXForm:
			c[j] = float32(x)
		case j%2 == 0:
			c[j] = float32(min(max(x, 0), float64(d.Width)))
		default:
			c[j] = float32(min(max(x, 0), float64(d.Height)))
		}
	}
	return c.Limited(), true
}

func (d *Detector) anchor(slot int) [4]float32 { return [4]float32(d.Anchors[4*slot:]) }

// inCell returns the corners of a box that YOLOX predicts for a cell. v has the position of the centre
// relative to the first corner of the cell, and the logarithms of width and height. The unit of all four
// is the side of the cell.
func inCell(cell [4]float32, v [4]float64) [4]float64 {
	s := float64(cell[2]) - float64(cell[0])
	x, y := float64((v[0]+float64(cell[0])/s)*s), float64((v[1]+float64(cell[1])/s)*s)
	w, h := float64(tensor.Exp(v[2])*s/2), float64(tensor.Exp(v[3])*s/2)
	return [4]float64{x - w, y - h, x + w, y + h}
}

// Sides returns the centre of a box, and its width and height.
func Sides(b [4]float32) (x, y, w, h float64) {
	w, h = float64(b[2])-float64(b[0]), float64(b[3])-float64(b[1])
	return float64(b[0]) + w/2, float64(b[1]) + h/2, w, h
}

// around returns the corners of a box. v has the distances of its four sides from the centre of the
// anchor, in units of the anchor's width and height.
func around(anchor [4]float32, v [4]float64) [4]float64 {
	x, y, w, h := Sides(anchor)
	return [4]float64{x - float64(v[0]*w), y - float64(v[1]*h), x + float64(v[2]*w), y + float64(v[3]*h)}
}

// decoded returns the corners of a box. v has the offset of its centre from the centre of the anchor, and
// the logarithms of its width and height, in units of the anchor's width and height.
func decoded(anchor [4]float32, v [4]float64) [4]float64 {
	x, y, w, h := Sides(anchor)
	x, y = x+float64(v[0]*w), y+float64(v[1]*h)
	w = float64(w * tensor.Exp(min(v[2], Longest)) / 2)
	h = float64(h * tensor.Exp(min(v[3], Longest)) / 2)
	return [4]float64{x - w, y - h, x + w, y + h}
}
