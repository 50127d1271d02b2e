package onnxpb

// Keys of a model's properties that bnctl writes and reads.
const (
	// Producer is the name of the program.
	Producer = "bnctl"
	// VarianceKey is the kind of variance in running statistics, if it differs from PyTorch's unbiased one.
	VarianceKey = "bnctl.running_variance"
	// ResizeKey is the length of the shorter side of a resized image file; 0 as in
	// models.Preprocess.
	ResizeKey = "bnctl.resize"
	MaxResize = 1 << 16
	// LetterboxKey reports whether the whole of an image file is scaled into the input: "true".
	LetterboxKey = "bnctl.letterbox"

	// ExifKey reports whether image files are rotated by their EXIF orientation: exifApply.
	ExifKey   = "bnctl.exif"
	ExifApply = "apply"
	// FilterKey is the filter that resizes image files, if it is not bilinear.
	FilterKey = "bnctl.interpolation"
)

// JointText begins the text of an Add or a Mul of an int8 template that was written as ONNX. The attribute
// joint of the operation follows it, or Apart without the attribute.
const (
	JointText = "bnctl: joint="
	Apart     = "apart"
)
