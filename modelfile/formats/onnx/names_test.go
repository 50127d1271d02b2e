package onnx

import "github.com/bnctl/bnctl/modelfile/formats/onnx/internal/onnxpb"

// Short names for what is in the packages below, of which tests write models.
var (
	intAttr   = onnxpb.IntAttr
	intsAttr  = onnxpb.IntsAttr
	floatAttr = onnxpb.FloatAttr
	textAttr  = onnxpb.TextAttr
	number    = onnxpb.Number
)
