// Package fold computes the results of nodes with constant operands when a file is read.
// Each function reads the operands of a node.Node and returns tensors. Constants keep the
// types of the file, except that float16 and bfloat16 become f32. length.go computes with
// the length of the batch if a file leaves it open.
package fold
