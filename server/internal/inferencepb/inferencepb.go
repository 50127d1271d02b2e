// Package inferencepb is the generated form of proto/inference/inference.proto,
// the Open Inference Protocol over gRPC.
package inferencepb

//go:generate ./generate.sh
