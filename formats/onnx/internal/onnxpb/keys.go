package onnxpb

// Keys of a model's properties that bnctl writes and reads.
const (
	// Producer is the name of the program.
	Producer = "bnctl"
	// VarianceKey is the kind of variance in running statistics, if it differs from PyTorch's unbiased one.
	VarianceKey = "bnctl.running_variance"
	// ResizeKey is the length of the shorter side of resized image files. 0 has the meaning that it has
	// in models.Preprocess.
	ResizeKey = "bnctl.resize"
	MaxResize = 1 << 16
	// LetterboxKey is "true" if the whole of an image file is scaled into the input.
	LetterboxKey = "bnctl.letterbox"

	// ExifKey is exifApply if image files are rotated by their EXIF orientation.
	ExifKey   = "bnctl.exif"
	ExifApply = "apply"
	// FilterKey is the filter for resizing image files, if it is not bilinear.
	FilterKey = "bnctl.interpolation"
)

// JointText is the beginning of the doc string of an Add or a Mul in an int8 template that was
// exported. The attribute joint of the operation follows it, or Apart if the operation has no
// attribute joint.
const (
	JointText = "bnctl: joint="
	Apart     = "apart"
)
