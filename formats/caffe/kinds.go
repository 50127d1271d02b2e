package caffe

import "github.com/bnctl/bnctl/problem"

// kind describes how to make nodes from a type of layer.
type kind struct {
	make  func(*call) error // nil: the layer is left out
	in    int               // number of inputs
	most  int               // maximum number of inputs, if it differs from in
	many  bool              // the layer may have more inputs than in, and several outputs
	param int               // field of the layer's settings
	data  bool              // the layer provides the data
	loss  bool              // the layer trains or measures the network
}

// kinds lists the types of layers that are known.
var kinds = map[string]kind{
	"Input": {}, "Silence": {},
	"Data": {data: true}, "ImageData": {data: true}, "HDF5Data": {data: true}, "MemoryData": {data: true},
	"WindowData": {data: true}, "DummyData": {data: true}, "AnnotatedData": {data: true},

	"SoftmaxWithLoss": {loss: true}, "SigmoidCrossEntropyLoss": {loss: true}, "EuclideanLoss": {loss: true},
	"HingeLoss": {loss: true}, "MultinomialLogisticLoss": {loss: true}, "InfogainLoss": {loss: true},
	"Accuracy": {loss: true},

	"Convolution":   {make: convolution, in: 1, param: 106},
	"Deconvolution": {make: convolution, in: 1, param: 106},
	"InnerProduct":  {make: innerProduct, in: 1, param: 117},
	"BatchNorm":     {make: batchNorm, in: 1, param: 139},
	"Scale":         {make: scale, in: 1, most: 2, param: fieldScale},
	"Bias":          {make: bias, in: 1, param: 141},
	"LRN":           {make: lrn, in: 1, param: 118},
	"Normalize":     {make: normalize, in: 1, param: 206},
	"Pooling":       {make: pooling, in: 1, param: 121},
	"ReLU":          {make: relu, in: 1, param: 123},
	"PReLU":         {make: prelu, in: 1, param: 131},
	"ELU":           {make: elu, in: 1, param: 140},
	"Sigmoid":       {make: sigmoid, in: 1, param: 124},
	"TanH":          {make: tanh, in: 1, param: 127},
	"AbsVal":        {make: absVal, in: 1},
	"BNLL":          {make: bnll, in: 1},
	"Softmax":       {make: softmax, in: 1, param: 125},
	"Dropout":       {make: dropout, in: 1, param: 108},
	"Power":         {make: power, in: 1, param: 122},
	"Eltwise":       {make: eltwise, in: 2, many: true, param: 110},
	"Concat":        {make: concat, in: 1, many: true, param: 104},
	"Slice":         {make: slice, in: 1, many: true, param: 126},
	"Split":         {make: split, in: 1, many: true},
	"Flatten":       {make: flatten, in: 1, param: 135},
	"Reshape":       {make: reshape, in: 1, param: 133},
	"Permute":       {make: permute, in: 1, param: 202},
	"Tile":          {make: tile, in: 1, param: 138},
	"Crop":          {make: crop, in: 2, param: 144},
}

// refusals explains some unsupported types of layers.
var refusals = map[string]*problem.Error{
	"BN": problem.Failure("", "the batch norm of NVCaffe and SegNet, whose statistics were folded or are kept "+
		"elsewhere, is not read", "convert the layer to BatchNorm and Scale"),
	"Python": problem.Failure("", "a layer of Python code is not run", ""),
}
