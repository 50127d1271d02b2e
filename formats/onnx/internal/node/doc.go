// Package node has one node of an ONNX file as the reader sees it: its attributes and
// operands, the first error, and the memory limit for its constants. Value is an operand;
// span.go and reads.go interpret operands that several packages need. Nothing here adds to
// a graph.
package node
