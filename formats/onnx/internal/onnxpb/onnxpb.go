// Package onnxpb is the generated form of onnx.proto, with conversions between ONNX's types
// and attributes and bnctl's names.
package onnxpb

//go:generate ./generate.sh
