// Package tensorflow reads TensorFlow checkpoints: a tensor bundle, which is an
// index (a table of LevelDB's format) and one or more files of elements. A
// SavedModel contains its weights as such a checkpoint. The graph is not read.
//
// Use it where a checkpoint is known to be of TensorFlow; package formats takes
// files of any format.
//
// Variables of optimizers and metrics are left out and listed in File.Left.
// Names lose the suffix /.ATTRIBUTES/VARIABLE_VALUE.
package tensorflow
