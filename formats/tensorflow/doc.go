// Package tensorflow reads TensorFlow checkpoints: a tensor bundle, which is
// an index (a table of LevelDB's format) and one or more files of elements.
// A SavedModel keeps its weights as one. The graph is not read.
//
// Use it where a checkpoint is known to be of TensorFlow; package formats takes
// files of any format.
//
// What optimizers and metrics keep is named and left out. Names lose the
// suffix /.ATTRIBUTES/VARIABLE_VALUE.
package tensorflow
