package data

import (
	"cmp"
	"fmt"
)

// InWords describes how samples become the input of a model: "pictures of several sizes: scaled until they
// cover it (bilinear), cut to the middle".
func (t Transform) InWords(info Info) string {
	if !info.Pictures() || t.Height == 0 {
		return "samples as they are"
	}
	text, how := "pictures of several sizes: ", ""
	if len(info.Shape) == 3 {
		text = fmt.Sprintf("pictures of %dx%d: ", info.Shape[0], info.Shape[1])
	}
	filter := cmp.Or(t.Filter, "bilinear")
	switch {
	case t.Letterbox:
		how = fmt.Sprintf("scaled until they fit into it (%s), grey beyond", filter)
	case t.Resize > 0:
		how = fmt.Sprintf("the shorter side scaled to %d (%s), cut to the middle", t.Resize, filter)
	case len(info.Shape) != 3, info.Shape[0]*t.Width != info.Shape[1]*t.Height:
		how = fmt.Sprintf("scaled until they cover it (%s), cut to the middle", filter)
	case info.Shape[0] != t.Height:
		how = fmt.Sprintf("scaled (%s)", filter)
	default:
		how = "as they are"
	}
	switch channels(info) - t.Channels {
	case -2:
		how += ", grey in three channels"
	case 2:
		how += ", made grey"
	}
	if a := t.Augment.InWords(); a != "" {
		how += "; in training " + a
	}
	return text + how
}
