// Package qdq turns the QDQ form of a quantised ONNX graph into operators of integers.
//
// In QDQ form an operator of floats is between a DequantizeLinear of each operand and a
// QuantizeLinear of the result. Rewrite replaces the group by one operator of integers:
//
//	DequantizeLinear -> Conv -> Relu -> QuantizeLinear    becomes    QLinearConv
//
// First a DequantizeLinear moves below operators that only move elements, for example
// Reshape: they then move bytes. A group that matches no pattern stays as it is, and is
// computed in floats. The operators are defined by ONNX and by ONNX Runtime, except the
// operators of domain bnctl: they have attributes or results that the others lack.
package qdq
