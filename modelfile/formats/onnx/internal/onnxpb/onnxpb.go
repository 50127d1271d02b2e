// Package onnxpb is the generated form of onnx.proto, with the types and the attributes of ONNX by the names
// that bnctl has for them.
package onnxpb

//go:generate ./generate.sh
