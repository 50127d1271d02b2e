package onnx

import (
	"github.com/bnctl/bnctl/formats/onnx/internal/decode"
	"github.com/bnctl/bnctl/formats/onnx/internal/element"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
)

// Short names of the internal packages, for tests that write models.
var (
	intAttr    = onnxpb.IntAttr
	intsAttr   = onnxpb.IntsAttr
	floatAttr  = onnxpb.FloatAttr
	textAttr   = onnxpb.TextAttr
	number     = onnxpb.Number
	isFloat    = element.IsFloat
	integersOf = element.IntegersOf
	indicesTo  = element.Indices
	load       = decode.Load
	operatorOf = decode.Operator
)

const (
	anyBatch  = element.AnyBatch
	maxPlaces = node.MaxPlaces
)

type batchAxis = node.BatchAxis

func first[T any](l []T, otherwise T) T    { return decode.First(l, otherwise) }
func widened[T int | int32](v []T) []int64 { return element.Widened(v) }
