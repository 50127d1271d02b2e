package keras

import (
	"encoding/json"
	"fmt"
	"strings"
)

// renamedLayers gives the present names of layers of Keras 1. It also replaces a layer by
// another one that computes the same in prediction.
var renamedLayers = map[string]string{
	"Convolution1D": "Conv1D", "Convolution2D": "Conv2D", "AtrousConvolution2D": "Conv2D",
	"SeparableConvolution2D": "SeparableConv2D", "Deconvolution2D": "Conv2DTranspose",
	"Convolution2DTranspose": "Conv2DTranspose", "DepthwiseConvolution2D": "DepthwiseConv2D",
	"SyncBatchNormalization": "BatchNormalization", "BatchNormalizationV1": "BatchNormalization",
	"BatchNormalizationV2": "BatchNormalization", "MaxPool1D": "MaxPooling1D", "MaxPool2D": "MaxPooling2D",
	"AvgPool1D": "AveragePooling1D", "AvgPool2D": "AveragePooling2D",
	"GlobalAvgPool1D": "GlobalAveragePooling1D", "GlobalAvgPool2D": "GlobalAveragePooling2D",
	"GlobalMaxPool1D": "GlobalMaxPooling1D", "GlobalMaxPool2D": "GlobalMaxPooling2D",
}

// renamedFields gives the present names of fields of Keras 1.
var renamedFields = [][2]string{
	{"nb_filter", "filters"}, {"filter_length", "kernel_size"}, {"border_mode", "padding"},
	{"subsample", "strides"}, {"subsample_length", "strides"}, {"bias", "use_bias"},
	{"output_dim", "units"}, {"p", "rate"}, {"pool_length", "pool_size"}, {"stride", "strides"},
	{"atrous_rate", "dilation_rate"}, {"length", "size"}, {"batch_input_shape", "batch_shape"},
}

// mergeModes gives the present layer for each mode of a Merge of Keras 1.
var mergeModes = map[string]string{"sum": "Add", "mul": "Multiply", "concat": "Concatenate", "ave": "Average"}

// modernise renames a layer and its fields to their present names.
func (l *layer) modernise() {
	if name, ok := renamedLayers[l.class]; ok {
		l.class = name
	}
	for _, r := range renamedFields {
		l.fields.rename(r[0], r[1])
	}
	if l.fields.has("nb_row") && l.fields.has("nb_col") && !l.fields.has("kernel_size") {
		size := fmt.Sprintf("[%s,%s]", l.fields.m["nb_row"], l.fields.m["nb_col"])
		l.fields.m["kernel_size"] = json.RawMessage(size)
		l.fields.drop("nb_row nb_col")
	}
	if order, ok := orders[l.fields.text("dim_ordering", "")]; ok && !l.fields.has("data_format") {
		l.fields.m["data_format"] = json.RawMessage(order)
		l.fields.drop("dim_ordering")
	}
	if l.class == "LeakyReLU" {
		l.fields.rename("negative_slope", "alpha") // the name in Keras 3
	}
	if l.class == "Merge" {
		l.modernMerge()
	}
}

// orders gives the present data_format for a dim_ordering of Keras 1.
var orders = map[string]string{"th": `"channels_first"`, "tf": `"channels_last"`}

// modernMerge gives a Merge of Keras 1 its present class, and removes the fields of other
// modes.
func (l *layer) modernMerge() {
	mode := l.fields.text("mode", "sum")
	name, ok := mergeModes[mode]
	if !ok {
		return
	}
	l.class = name
	l.fields.drop("mode dot_axes output_shape output_mask arguments mode_type output_shape_type " +
		"output_mask_type node_indices tensor_indices")
	if mode == "concat" {
		l.fields.rename("concat_axis", "axis")
	} else {
		l.fields.drop("concat_axis")
	}
}

// drop removes fields that have been read.
func (f *fields) drop(keys string) {
	for _, key := range strings.Fields(keys) {
		delete(f.m, key)
	}
}
