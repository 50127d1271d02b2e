package augmentation

import (
	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/tensor"
)

// DrawPosition draws the view of a picture that Apply would show, and whether Apply would mirror it. It uses
// the same draws as Apply.
func (a Augmentation) DrawPosition(s images.Scaling, dst, src images.Plane, d *tensor.Draws) (
	v images.View, mirrored bool,
) {
	if a.preset == segment {
		v = DrawView(s, dst, src, d)
		return v, d.Uint32()>>31 != 0
	}
	v = s.Whole(dst, src)
	for _, op := range a.ops {
		draws := d.Stream(op.stream)
		switch op.name {
		case "flip":
			mirrored = draws.Float64() < op.args[0]
		case "crop":
			pad := int(op.args[0])
			dx := draws.Intn(2*pad+1) - pad
			if dy := draws.Intn(2*pad+1) - pad; mirrored {
				v.X, v.Y = v.X-dx, v.Y+dy
			} else {
				v.X, v.Y = v.X+dx, v.Y+dy
			}
		}
	}
	return v, mirrored
}

// LeavingBoxes returns the name of a part of an augmentation that DrawPosition does not support, so that
// boxes would not follow their pixels. It returns "" if DrawPosition supports all parts.
func (a Augmentation) LeavingBoxes() string {
	if a.preset != segment && a.preset != "" {
		return a.preset
	}
	for _, op := range a.ops {
		if op.name == mosaic || op.name == blending {
			continue // for this operation Loader moves the boxes
		}
		if op.moves && op.name != "flip" && op.name != "crop" && op.name != "erase" || op.apply == nil {
			return op.name
		}
	}
	return ""
}
