// Package onnxpb is the generated form of onnx.proto.
package onnxpb

//go:generate ./generate.sh
