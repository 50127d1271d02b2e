// Package protocol reads requests and writes answers of the Open Inference
// Protocol, version 2, for HTTP: JSON, or JSON followed by the elements of
// tensors as bytes (Triton's extension binary_tensor_data). It only deals with
// tensors, not with models.
//
// Use it to write a server or a client of the protocol; package server is a
// complete server.
//
// Read parses the body of a request. Input.Tensor converts one of its inputs,
// after the caller has compared its type and shape with the model's.
// Answer.Write writes an answer. A Refusal is the error for a request without
// an answer; its kind corresponds to a status of HTTP and gRPC.
//
// Source: github.com/kserve/open-inference-protocol, specification/protocol;
// github.com/triton-inference-server/server, docs/protocol.
package protocol
