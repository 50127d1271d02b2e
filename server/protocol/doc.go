// Package protocol reads requests and writes answers of the Open Inference
// Protocol, version 2, as they travel over HTTP: JSON, or JSON with the
// elements of tensors behind it as bytes (Triton's extension
// binary_tensor_data). It knows tensors, and no model.
//
// Use it to write a server, or a client, of the protocol; package server is the
// whole of one.
//
// Read takes the body of a request apart; Input.Tensor makes a tensor of one
// of its inputs, once the caller knows that it is of the type and shape that
// the model takes. Answer.Write is the way back. A Refusal is why a request
// has no answer, with the kind that HTTP and gRPC have numbers for.
//
// Source: github.com/kserve/open-inference-protocol, specification/protocol;
// github.com/triton-inference-server/server, docs/protocol.
package protocol
