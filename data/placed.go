package data

import "github.com/bnctl/bnctl/tensor"

// place draws the view of a picture that apply shows, and whether it is mirrored, from the same draws.
func (a Augment) place(s scaling, dst, src plane, d *tensor.Draws) (v view, mirrored bool) {
	switch a {
	case NoAugment:
		return s.whole(dst, src), false
	case SegmentAugment:
		v = drawView(s, dst, src, d)
		return v, d.Uint32()>>31 != 0
	}
	v = s.whole(dst, src)
	for _, op := range a.operations() {
		draws := d.Stream(op.stream)
		switch op.name {
		case "flip":
			mirrored = draws.Float64() < op.args[0]
		case "crop":
			pad := int(op.args[0])
			dx := draws.Intn(2*pad+1) - pad
			if dy := draws.Intn(2*pad+1) - pad; mirrored {
				v.x, v.y = v.x-dx, v.y+dy
			} else {
				v.x, v.y = v.x+dx, v.y+dy
			}
		}
	}
	return v, mirrored
}

// leavingBoxes returns the name of a part of an augmentation that place does not follow; "" if there
// is none.
func (a Augment) leavingBoxes() string {
	switch a {
	case NoAugment, SegmentAugment:
		return ""
	case CIFARAugment, ImageNetAugment:
		return string(a)
	}
	for _, op := range a.operations() {
		if op.moves && op.name != "flip" && op.name != "crop" && op.name != "erase" || op.apply == nil {
			return op.name
		}
	}
	return ""
}
