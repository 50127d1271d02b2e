// Package onnx reads and writes convolutional networks as ONNX models.
//
// Use it where a file is known to be ONNX, or for models in memory; package
// formats reads files of any format.
//
// It reads operator sets 6 to 22. The first axis of the model's inputs is the batch,
// whatever its length in the file, and no operation may mix its rows, which are the
// samples. Several inputs become fields of one: see models.Field. Values of constants and
// of shapes alone are computed when the file is read; everything else must have a
// counterpart in package graph, or the model is refused by the names of its operators.
//
// It writes operator set 17: the model in prediction, with batch norms as they
// are and the length of the batch open.
package onnx

// Limits for files.
const (
	minOpset = 6
	maxOpset = 22
	maxMade  = 1 << 18 // nodes of the graph, which may be more than the nodes of the file
)
