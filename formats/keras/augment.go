package keras

// augmentations are the layers that change pictures at random in training and pass them
// through in prediction, with the keys of their settings. The classes and keys are from
// tf.keras 2.3 to Keras 3.
var augmentations = map[string]string{
	"AugMix": "num_chains chain_depth factor alpha all_ops interpolation", "CutMix": "factor",
	"MixUp": "alpha", "RandAugment": "num_ops factor interpolation",
	"RandomBrightness": "factor", "RandomColorDegeneration": "factor",
	"RandomColorJitter":      "brightness_factor contrast_factor saturation_factor hue_factor",
	"RandomContrast":         "factor",
	"RandomElasticTransform": "factor scale interpolation fill_mode fill_value",
	"RandomErasing":          "factor scale fill_value", "RandomFlip": "mode",
	"RandomGaussianBlur": "factor kernel_size sigma", "RandomGrayscale": "factor",
	"RandomHeight": "factor interpolation", "RandomWidth": "factor interpolation",
	"RandomHue": "factor", "RandomInvert": "factor",
	"RandomPerspective":   "factor scale interpolation fill_value",
	"RandomPosterization": "factor",
	"RandomRotation":      "factor fill_mode interpolation fill_value",
	"RandomSaturation":    "factor", "RandomSharpness": "factor",
	"RandomShear":       "x_factor y_factor interpolation fill_mode fill_value",
	"RandomTranslation": "height_factor width_factor fill_mode interpolation fill_value",
	"RandomZoom":        "height_factor width_factor fill_mode interpolation fill_value",
}

// addAugmentations adds the augmentations to a table of kinds.
func addAugmentations(kinds map[string]layerKind) {
	for class, keys := range augmentations {
		kinds[class] = layerKind{make: identity, reads: "data_format",
			ignores: keys + " value_range seed bounding_box_format force_generator rng_type"}
	}
	kinds["RandomCrop"] = layerKind{make: randomCrop, reads: "height width data_format",
		ignores: "value_range seed bounding_box_format force_generator rng_type"}
}

// randomCrop is left out if it has nothing to crop. It is rejected for a picture of another
// size, because versions of Keras crop differently in prediction.
func randomCrop(c *call) flow {
	f := c.operand()
	height, width := c.count("height", 0), c.count("width", 0)
	if c.err != nil || c.fields.err != nil {
		return f
	}
	if shape := c.graphShape(f.shape); len(shape) != 3 || shape[1] != height || shape[2] != width {
		return c.fail("crops a tensor of shape %v to %dx%d; only pictures of that size already are supported",
			f.shape, height, width)
	}
	return identity(c)
}
