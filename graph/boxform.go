package graph

// BoxForm is the form of the predictions of a detector. It is the name of the first output, which is
// f32 [R, A]: a column for each of A slots (places that predict one box each), with rows for its box
// and a row for each class at the end. The names are part of every file format that names outputs.
// Packages objects/cells and objects/anchors have the order of slots and the units.
type BoxForm string

// These are the forms of detectors. YOLOXForm is YOLOX's (Ge et al. 2021), and FCOSForm torchvision's FCOS
// (Tian et al. 2019). RetinaNetForm is torchvision's RetinaNet (Lin et al. 2017), and RetinaNetV2Form its
// second version, with the same rows and another loss. SSDForm is torchvision's SSD (Liu et al. 2016).
const (
	YOLOXForm       BoxForm = "yolox"
	FCOSForm        BoxForm = "fcos"
	RetinaNetForm   BoxForm = "retinanet"
	RetinaNetV2Form BoxForm = "retinanet_v2"
	SSDForm         BoxForm = "ssd"
)

// Fields returns the number of rows before the rows of classes; 0 for other names.
func (f BoxForm) Fields() int {
	switch f {
	case YOLOXForm, FCOSForm, SSDForm: // a box, and the logit of an object, of the centre or of the background
		return 5
	case RetinaNetForm, RetinaNetV2Form: // a box
		return 4
	}
	return 0
}

// CornersForm is a form for Detect alone: the corners x1, y1, x2, y2 of a box, and a score for each class. It
// is not the name of an output.
const CornersForm BoxForm = "corners"

// BoxRows returns the number of rows before the rows of classes in an operand of Detect; 0 for other names.
func (f BoxForm) BoxRows() int {
	if f == CornersForm {
		return 4
	}
	return f.Fields()
}

// BoxForm returns the form of the predictions of f, or "" if f is no detector.
func (f *Function) BoxForm() BoxForm {
	if len(f.Outputs) == 0 {
		return ""
	}
	form, t := BoxForm(f.Outputs[0].Name), f.Values[f.Outputs[0].Value].Type
	if n := form.Fields(); n == 0 || t.Kind != Rows || len(t.Shape) != 2 || t.Shape[0] <= n {
		return ""
	}
	return form
}
