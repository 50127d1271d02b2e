// Package node represents one node of an ONNX file: its attributes and operands, its first error, and
// the memory limit for its constants. Value is an operand. span.go and reads.go interpret operands that
// several packages need. This package adds nothing to the graph.
package node
