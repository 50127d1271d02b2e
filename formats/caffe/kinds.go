package caffe

import "github.com/bnctl/bnctl/problem"

// kind describes how to make nodes from a type of layer.
type kind struct {
	make      func(*call) error // nil: the layer is left out
	inputs    int               // number of inputs
	maxInputs int               // maximum number of inputs, if it differs from inputs
	variadic  bool              // the layer may have more inputs than the field inputs, and several outputs
	param     int               // field of the layer's settings
	data      bool              // the layer provides the data
	loss      bool              // the layer trains or measures the network
}

// kinds lists the types of layers that are known.
var kinds = map[string]kind{
	"Input": {}, "Silence": {},
	"Data": {data: true}, "ImageData": {data: true}, "HDF5Data": {data: true}, "MemoryData": {data: true},
	"WindowData": {data: true}, "DummyData": {data: true}, "AnnotatedData": {data: true},

	"SoftmaxWithLoss": {loss: true}, "SigmoidCrossEntropyLoss": {loss: true}, "EuclideanLoss": {loss: true},
	"HingeLoss": {loss: true}, "MultinomialLogisticLoss": {loss: true}, "InfogainLoss": {loss: true},
	"Accuracy": {loss: true},

	"Convolution":   {make: convolution, inputs: 1, param: 106},
	"Deconvolution": {make: convolution, inputs: 1, param: 106},
	"InnerProduct":  {make: innerProduct, inputs: 1, param: 117},
	"BatchNorm":     {make: batchNorm, inputs: 1, param: 139},
	"Scale":         {make: scale, inputs: 1, maxInputs: 2, param: fieldScale},
	"Bias":          {make: bias, inputs: 1, param: 141},
	"LRN":           {make: lrn, inputs: 1, param: 118},
	"Normalize":     {make: normalize, inputs: 1, param: 206},
	"Pooling":       {make: pooling, inputs: 1, param: 121},
	"ReLU":          {make: relu, inputs: 1, param: 123},
	"PReLU":         {make: prelu, inputs: 1, param: 131},
	"ELU":           {make: elu, inputs: 1, param: 140},
	"Sigmoid":       {make: sigmoid, inputs: 1, param: 124},
	"TanH":          {make: tanh, inputs: 1, param: 127},
	"AbsVal":        {make: absVal, inputs: 1},
	"BNLL":          {make: bnll, inputs: 1},
	"Softmax":       {make: softmax, inputs: 1, param: 125},
	"Dropout":       {make: dropout, inputs: 1, param: 108},
	"Power":         {make: power, inputs: 1, param: 122},
	"Eltwise":       {make: eltwise, inputs: 2, variadic: true, param: 110},
	"Concat":        {make: concat, inputs: 1, variadic: true, param: 104},
	"Slice":         {make: slice, inputs: 1, variadic: true, param: 126},
	"Split":         {make: split, inputs: 1, variadic: true},
	"Flatten":       {make: flatten, inputs: 1, param: 135},
	"Reshape":       {make: reshape, inputs: 1, param: 133},
	"Permute":       {make: permute, inputs: 1, param: 202},
	"Tile":          {make: tile, inputs: 1, param: 138},
	"Crop":          {make: crop, inputs: 2, param: 144},
}

// refusals explains some unsupported types of layers.
var refusals = map[string]*problem.Error{
	"BN": problem.Failure("", "the batch norm of NVCaffe and SegNet, whose statistics were folded or are kept "+
		"elsewhere, is not read", "convert the layer to BatchNorm and Scale"),
	"Python": problem.Failure("", "a layer of Python code is not run", ""),
}
