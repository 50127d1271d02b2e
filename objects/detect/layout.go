package detect

import (
	"github.com/bnctl/bnctl/device/suppress"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/objects/cells"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

// candidates are the predicted boxes of a detector from another program, in pixels of the input.
type candidates struct {
	minimum float32 // only boxes with a greater score are added
	highest float32 // maximum of all scores
	boxes   []suppress.Corners
	scores  []float32
	classes []int
}

// add adds a box of finite numbers. Corners that have overflowed float32 are limited: see Corners.Limited.
func (c *candidates) add(box suppress.Corners, score float32, class int) {
	if !(score > c.minimum) {
		return
	}
	c.highest = max(c.highest, score)
	box = box.Limited()
	c.boxes, c.scores, c.classes = append(c.boxes, box), append(c.scores, score), append(c.classes, class)
}

// before is the maximum number of candidates of a class that are kept before overlapping boxes are removed:
// the best ones.
const before = 1000

// suppress removes overlapping boxes and returns the others. If suppressed is set, the model itself has
// already removed overlapping boxes, and suppress keeps all.
func (c *candidates) suppress(o cells.Options, suppressed bool) (list []cells.Detection) {
	overlap := o.Overlap
	if suppressed {
		overlap = 1
	}
	for _, k := range suppress.Classwise(c.boxes, c.scores, c.classes, suppress.Options{Overlap: overlap,
		Score: o.Score, Before: before, Most: o.Most}) {
		list = append(list, cells.Detection{Corners: c.boxes[k], Class: c.classes[k], Score: c.scores[k]})
	}
	return list
}

// read returns the boxes in outputs of the detector's layout. The error is a *problem.Error if the scores are
// not probabilities.
func (d *Detector) read(outs []tensor.Tensor) ([]cells.Detection, error) {
	c, out := &candidates{minimum: d.options.Score}, outs[d.first]
	switch d.layout {
	case models.YOLOv8:
		c.yolo(out, 4, func(n, field int) int { return field*out.Shape[1] + n }, out.Shape[1], centred)
	case models.YOLOv5, models.YOLOXDecoded:
		c.yolo(out, 5, func(n, field int) int { return n*out.Shape[1] + field }, out.Shape[0], centred)
	case models.YOLOX:
		c.yolo(out, 5, func(n, field int) int { return n*out.Shape[1] + field }, out.Shape[0],
			func(n int, v [4]float32) suppress.Corners { return d.grid.Corners(n, v) })
	case models.SSD:
		boxes, scores, _ := models.FindSSD(d.model.Outputs())
		c.ssd(outs[boxes], outs[scores], float32(d.frames.Width), float32(d.frames.Height))
	case models.Suppressed:
		boxes, scores, classes := d.model.FindSuppressed()
		for i, score := range outs[scores].F32() {
			c.add(suppress.Corners(outs[boxes].F32()[4*i:]), score, int(outs[classes].I64()[i]))
		}
	}
	const rounding = 1e-3
	if c.highest > 1+rounding {
		return nil, problem.Advise("print the outputs with {boxes} none, and decode them",
			"output %s has the form of %s, but a score is %v, which is not a probability",
			d.model.Outputs()[d.first].Name, d.layout, c.highest)
	}
	return c.suppress(d.options, d.layout == models.Suppressed), nil
}

// centred returns the corners of the box with the centre v[0], v[1] and the size v[2], v[3].
func centred(_ int, v [4]float32) suppress.Corners {
	w, h := v[2]/2, v[3]/2
	return suppress.Corners{v[0] - w, v[1] - h, v[0] + w, v[1] + h}
}

// yolo reads count boxes of four numbers, followed by the probabilities of the classes. If fields is 5, the
// probability of an object comes before these. A box has only its most probable class, the first of several
// equal ones. index returns the index of a field of box n.
func (c *candidates) yolo(t tensor.Tensor, fields int, index func(n, field int) int, count int,
	corners func(n int, v [4]float32) suppress.Corners) {
	x, classes := t.F32(), t.Count()/count-fields
	for n := range count {
		best := 0
		for k := range classes {
			if x[index(n, fields+k)] > x[index(n, fields+best)] {
				best = k
			}
		}
		score := x[index(n, fields+best)]
		if fields == 5 {
			score *= x[index(n, 4)]
		}
		if score > c.minimum {
			c.add(corners(n, [4]float32{x[index(n, 0)], x[index(n, 1)], x[index(n, 2)], x[index(n, 3)]}), score, best)
		}
	}
}

// checkCorners returns an error if the boxes of an SSD do not seem to be corners but offsets from anchors.
// Offsets have the same form, but their third number is often less than the first.
func (d *Detector) checkCorners(outs []tensor.Tensor) error {
	if d.layout != models.SSD {
		return nil
	}
	boxes, _, _ := models.FindSSD(d.model.Outputs())
	b, turned := outs[boxes].F32(), 0
	for n := 0; n+4 <= len(b); n += 4 {
		if b[n+2] < b[n] || b[n+3] < b[n+1] {
			turned++
		}
	}
	if 10*turned <= len(b)/4 {
		return nil
	}
	return problem.Advise("print the outputs with {boxes} none, and decode them",
		"output %s has the form of corners, but %d of %d boxes end before they begin: they are likely offsets "+
			"from anchors", d.model.Outputs()[boxes].Name, turned, len(b)/4)
}

// ssd reads boxes, with corners as fractions of the input, and their scores. The first score of a box is the
// background's. A box may have several classes. The numbers of classes do not include the background.
func (c *candidates) ssd(boxes, scores tensor.Tensor, width, height float32) {
	b, s, classes := boxes.F32(), scores.F32(), scores.Shape[1]
	for n := range scores.Shape[0] {
		box := suppress.Corners{b[4*n] * width, b[4*n+1] * height, b[4*n+2] * width, b[4*n+3] * height}
		for k := 1; k < classes; k++ {
			c.add(box, s[n*classes+k], k-1)
		}
	}
}
